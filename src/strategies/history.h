/*
 * The last run as its strategy saw it. A strategy is a deterministic function of its inputs.
 * Replaying the recorded views into the strategy therefore shows, without running the program, how
 * long a prefix the next run shares with the last one. A checkpoint within this prefix can be
 * resumed (runtime/restart/checkpoint.h). The history wraps any strategy that makes its own value
 * choices, and changes no choice.
 *
 * An *entry* is a decision or a value choice, numbered within the run from 0. An entry is *decided*
 * if the strategy has already been asked about it for the run that begins. The history is one block
 * of memory that survives the run: the struct, followed by the record. The block contains pointers
 * and stays in its process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/view.h"
#include "strategies/strategy.h"

#define HISTORY_THREADS                                                                            \
	256 /* runs with more threads are not recorded, nor are runs with calling contexts */

struct history {
	const struct strategy *strategy;
	void *state;
	uint64_t capacity; /* size of the record in bytes */

	bool is_whole;	     /* the record contains the whole last run */
	uint64_t used;	     /* used bytes of the record */
	uint32_t count;	     /* number of entries */
	uint32_t decided;    /* number of leading entries that are decided */
	uint32_t last_words; /* size of the last entry in words */
	/* the next entry's view is known from the record, but not its choice */
	bool is_next_shown;
	bool is_open;	 /* the last decided entry is chosen, but not yet reported as executed */
	uint32_t number; /* number of the next entry in the current run */
	uint64_t at;	 /* its position in the record */

	bool awaits_executed;		    /* between a choice and its execution */
	bool is_executed_known;		    /* executed() was already called for that choice */
	uint32_t thread_count;		    /* thread count of the last recorded view */
	thread_name names[HISTORY_THREADS]; /* names and pending ops of the last recorded view */
	struct pending_op pending[HISTORY_THREADS];
	/* Must be deterministic: one answer per object. */
	bool (*heap_position)(object_name object, struct heap_position *out);
	uint64_t record[];
};

void history_begin(
	struct history *history, uint64_t bytes, const struct strategy *strategy, void *state);

/* Replays the shared prefix into the strategy. Returns the first entry that may differ. */
uint32_t history_begin_run(struct history *history, uint64_t seed);
/* Resumes before entry `number`, at most that of history_begin_run(), `at` in the record. */
void history_resume(struct history *history, uint32_t number, uint64_t at);
/* Returns whether the view equals the recorded view of this point, or nothing was recorded. */
bool history_matches(const struct history *history, const struct schedule_view *view);

/* The strategy to use for the run, with the history as its state. */
extern const struct strategy history_strategy;
