/*
 * The last run as its strategy saw it. A strategy is a function of what it is shown, so showing it the
 * record again tells, without running the program, how far the next run is like the last one; and
 * whoever has a checkpoint of the program in that part may go on from there (runtime/restart/checkpoint.h).
 *
 * Wraps any strategy that makes its own choices of values, and changes none of them: it is called
 * with the same views in the same order as if every run began at the beginning.
 *
 * New words: an *entry* is a decision or a choice of a value, known by its number in the run, from 0.
 * Entries are *told* when the strategy has already been asked about them for the run that begins.
 *
 * One block of memory that survives the run: the struct, and the record behind it. Not a strategy's
 * state: it holds pointers, and does not leave the process.
 */
#ifndef RADDLE_STRATEGIES_HISTORY_H
#define RADDLE_STRATEGIES_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/view.h"
#include "strategies/strategy.h"

#define HISTORY_THREADS                                                                            \
	256 /* runs with more are not recorded, nor are those with calling contexts */

struct history {
	const struct strategy *strategy;
	void *state;
	uint64_t capacity; /* bytes of the record */

	bool is_whole;	     /* the record holds all of the last run */
	uint64_t used;	     /* bytes of it that are filled */
	uint32_t count;	     /* entries */
	uint32_t told;	     /* of those, at the beginning */
	uint32_t last_words; /* of the last entry */
	bool is_next_shown; /* the entry behind these is still in the record: its view is known, but no choice */
	bool is_open;	 /* the last told decision has been asked for, but not told as executed */
	uint32_t number; /* of the next entry of the run at hand */
	uint64_t at;	 /* its place in the record */

	bool awaits_executed;		    /* between a choice and its execution */
	bool is_executed_known;		    /* ... which the strategy has been told of */
	uint32_t thread_count;		    /* in the last recorded view, */
	thread_name names[HISTORY_THREADS]; /* and what else it showed */
	struct pending_op pending[HISTORY_THREADS];
	/* What it answers of an object it always does. */
	bool (*place)(object_name object, struct object_place *out);
	uint64_t record[];
};

/* `bytes`: of the block. */
void history_begin(
	struct history *history, uint64_t bytes, const struct strategy *strategy, void *state);
/* The record is of no use any more. */
void history_forget(struct history *history);

/*
 * A run begins: begins it for the strategy, too, and tells it what it shares with the last one. Returns
 * the number of the first entry that may be another one than in the last run: all before are the same.
 */
uint32_t history_begin_run(struct history *history, uint64_t seed);
/* The run at hand goes on from before this entry, which is not behind what history_begin_run() said. */
void history_resume(struct history *history, uint32_t number, uint64_t at);
/* Is the view what was recorded of this point? True where nothing was. */
bool history_meets(const struct history *history, const struct schedule_view *view);

/* The strategy that is to be asked in the run, with the history as its state. */
extern const struct strategy history_strategy;

#endif
