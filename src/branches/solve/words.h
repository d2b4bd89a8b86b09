/*
 * Shared memory during simulated reorderings (rehearsal.h), in words of eight bytes: all words that
 * the run accesses. Writes of a trial are journalled and undone at its end.
 */
#ifndef RADDLE_BRANCHES_SOLVE_WORDS_H
#define RADDLE_BRANCHES_SOLVE_WORDS_H

#include "branches/solve/order.h"

struct word {
	uint64_t key; /* key of slots.h: address divided by eight, plus one */
	uint64_t value, first;
	/* For a word written by the trial: its value at this point of the recorded run. */
	uint64_t recorded;
	/*
	 * Rank plus one of the recorded write of that value; 0: the value is older than the trial.
	 */
	uint64_t rank;
	uint32_t trial;		    /* number of the last trial that wrote the word */
	uint8_t known, known_first; /* bit sets of the bytes known in `value` and `first` */
	/* Hidden writes (hidden.h): reads return their recorded values. */
	bool is_hidden;
};

/* Undo entry. */
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
	uint32_t trial; /* number of the last trial */
	bool is_trial;	/* false: writes are permanent */
};

/* Adds all words that the events access, with their initial values. */
void words_open(struct words *words, const struct order *order);
void words_release(struct words *words);
/* Back to the beginning of the run. */
void words_rewind(struct words *words);

/* Whether the run accesses the words of all these bytes. */
bool words_has(const struct words *words, uint64_t address, uint32_t bytes);
/* Whether a word of these bytes has hidden writes, so that reads return their recorded values. */
bool words_are_hidden(const struct words *words, uint64_t address, uint32_t bytes);
/* False: the value is not known. */
bool words_read(const struct words *words, uint64_t address, uint32_t bytes, uint64_t *value);
void words_write(struct words *words, uint64_t address, uint32_t bytes, uint64_t value);
/* During a trial: notes the value that the recorded write of this rank left there. */
void words_note_recorded(
	struct words *words, uint64_t address, uint32_t bytes, uint64_t value, uint64_t rank);

void words_begin_trial(struct words *words);
/* Whether all words written by the trial hold their recorded values, as far as these were noted. */
bool words_are_as_recorded(const struct words *words);
void words_end_trial(struct words *words);

#endif
