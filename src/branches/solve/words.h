/*
 * Shared memory while schedules are rehearsed (rehearsal.h): by words of eight bytes, all that the run accesses. What a
 * trial writes is taken back when it is over.
 */
#ifndef RADDLE_BRANCHES_SOLVE_WORDS_H
#define RADDLE_BRANCHES_SOLVE_WORDS_H

#include "branches/solve/order.h"

struct word {
	uint64_t key; /* of slots.h: address divided by eight, plus one */
	uint64_t value, first;
	uint64_t
		recorded; /* of words that the trial wrote: what stands there in the run as it was */
	uint64_t
		rank; /* of the write that left that, plus one; 0: it stood there before the trial */
	uint32_t trial;		    /* that wrote it last */
	uint8_t known, known_first; /* bytes of `value` and `first` */
	bool is_hidden;		    /* hidden.h: reads give what they gave */
};

/* What to take back. */
struct word_change {
	struct word *word;
	uint64_t value;
	uint8_t known;
};

struct words {
	struct word *slots;
	uint64_t capacity, count;
	struct word_change *journal;
	uint64_t journal_count, journal_capacity;
	uint32_t trial; /* the last one's number */
	bool is_trial;	/* else what is written stays */
};

/* Of all words that the events access, with what stands there at first. */
void words_open(struct words *words, const struct order *order);
void words_release(struct words *words);
/* To the beginning of the run. */
void words_rewind(struct words *words);

/* Does the run access all of these bytes' words? */
bool words_has(const struct words *words, uint64_t address, uint32_t bytes);
/* Do reads there give what they gave? */
bool words_are_hidden(const struct words *words, uint64_t address, uint32_t bytes);
/* False: it is not known what stands there. */
bool words_read(const struct words *words, uint64_t address, uint32_t bytes, uint64_t *value);
void words_write(struct words *words, uint64_t address, uint32_t bytes, uint64_t value);
/* In a trial: what the write left there in the run as it was. `rank`: its place in the order of the run. */
void words_note_recorded(
	struct words *words, uint64_t address, uint32_t bytes, uint64_t value, uint64_t rank);

void words_begin_trial(struct words *words);
/* Do all words that the trial wrote hold what they hold in the run, as far as that was noted? */
bool words_are_as_recorded(const struct words *words);
void words_end_trial(struct words *words);

#endif
