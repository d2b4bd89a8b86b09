/* Thread priorities of a run, and change points (Burckhardt et al., ASPLOS 2010, section 4). */
#pragma once

#include <string.h>

#include "base/bitset.h"
#include "base/rng.h"
#include "model/view.h"

/* Initial priorities have this bit and exceed all lowered priorities (1, 2, ...). */
#define PRIORITY_INITIAL (UINT64_C(1) << 63)
#define CHANGE_POINTS_MAX 16
#define CHANGE_NEVER UINT64_MAX

struct priority_table {
	uint32_t known; /* number of threads of this run with a priority */
	/* Cache per 64 threads: the enabled ones of the last examination, the highest of them, and
	 * its priority. */
	uint64_t examined[BITSET_WORDS(THREAD_CAPACITY)];
	uint64_t top_priority[BITSET_WORDS(THREAD_CAPACITY)];
	uint16_t top[BITSET_WORDS(THREAD_CAPACITY)];
	uint64_t priority[THREAD_CAPACITY];
};

static inline void priority_table_add_thread(
	struct priority_table *table, struct rng *rng, const struct schedule_view *view)
{
	while (table->known < view->thread_count)
		table->priority[table->known++] = rng_next(rng) | PRIORITY_INITIAL;
}

static inline uint32_t priority_table_highest(
	const struct priority_table *table, const struct schedule_view *view)
{
	const uint32_t word_count = BITSET_WORDS(view->thread_count);
	uint64_t best = 0;
	uint32_t chosen = 0;

	for (uint32_t word = 0; word < word_count; word++) {
		for (uint64_t rest = view->enabled[word]; rest; rest &= rest - 1) {
			const uint32_t thread = word * 64 + (uint32_t)__builtin_ctzll(rest);

			if (table->priority[thread] > best) {
				best = table->priority[thread];
				chosen = thread;
			}
		}
	}
	return chosen;
}

static inline void priority_table_examine(
	struct priority_table *table, const struct schedule_view *view, uint32_t word)
{
	table->examined[word] = view->enabled[word];
	table->top_priority[word] = 0;
	for (uint64_t rest = view->enabled[word]; rest; rest &= rest - 1) {
		const uint32_t thread = word * 64 + (uint32_t)__builtin_ctzll(rest);

		if (table->priority[thread] > table->top_priority[word]) {
			table->top_priority[word] = table->priority[thread];
			table->top[word] = (uint16_t)thread;
		}
	}
}

/* Returns the same as priority_table_highest(), and examines only groups of 64 threads that have
 * changed since the last call. Between two calls, priorities must only decrease, unless
 * priority_table_raise() sets them. */
static inline uint32_t priority_table_first(
	struct priority_table *table, const struct schedule_view *view)
{
	const uint32_t word_count = BITSET_WORDS(view->thread_count);
	uint64_t best = 0;
	uint32_t chosen = 0;

	if (word_count == 1)
		return priority_table_highest(table, view);
	for (uint32_t word = 0; word < word_count; word++) {
		if (view->enabled[word] != table->examined[word] ||
			table->priority[table->top[word]] != table->top_priority[word])
			priority_table_examine(table, view, word);
		if (table->top_priority[word] > best) {
			best = table->top_priority[word];
			chosen = table->top[word];
		}
	}
	return chosen;
}

/* Sets a priority above 0, which may exceed the thread's earlier one. No thread has priority 0, so
 * the next priority_table_first() examines the thread's group. */
static inline void priority_table_raise(
	struct priority_table *table, uint32_t thread, uint64_t priority)
{
	table->priority[thread] = priority;
	table->top_priority[thread / 64] = 0;
}

/* Forgets the threads of the last run. Only groups of these threads have entries in the cache, so that the function clears
 * no others. */
static inline void priority_table_begin_run(struct priority_table *table)
{
	const uint32_t word_count = BITSET_WORDS(table->known);

	memset(table->examined, 0, word_count * sizeof *table->examined);
	memset(table->top_priority, 0, word_count * sizeof *table->top_priority);
	memset(table->top, 0, word_count * sizeof *table->top);
	table->known = 0;
}

struct change_point {
	uint64_t point;	   /* ordinal number of the event */
	uint64_t priority; /* the new, lower priority of the thread */
};

/* Change points, sorted by point; equal points keep the order of insertion. */
struct change_points {
	uint64_t next_point; /* point of items[next]; CHANGE_NEVER: none left */
	uint32_t next;
	uint32_t count;
	struct change_point items[CHANGE_POINTS_MAX];
};

static inline void change_points_clear(struct change_points *points)
{
	points->next = points->count = 0;
	points->next_point = CHANGE_NEVER;
}

static inline bool change_points_has(const struct change_points *points, uint64_t point)
{
	for (uint32_t i = 0; i < points->count; i++)
		if (points->items[i].point == point)
			return true;
	return false;
}

/* Called only before the first event of a run. */
static inline void change_points_add(
	struct change_points *points, uint64_t point, uint64_t priority)
{
	uint32_t at = points->count++;

	for (; at && points->items[at - 1].point > point; at--)
		points->items[at] = points->items[at - 1];
	points->items[at] = (struct change_point){point, priority};
	points->next_point = points->items[0].point;
}

/* Applies all changes at the next point to `thread`; the last one added decides. */
static inline void change_points_fall(
	struct change_points *points, struct priority_table *table, uint32_t thread)
{
	const uint64_t point = points->next_point;

	while (points->next < points->count && points->items[points->next].point == point)
		table->priority[thread] = points->items[points->next++].priority;
	points->next_point =
		points->next < points->count ? points->items[points->next].point : CHANGE_NEVER;
}

/* A single long run affects the campaign only for a while: shorter ones reduce the expectation. */
struct run_length {
	uint64_t expected; /* 0: not known */
	uint64_t most;
};

static inline void run_length_learn(struct run_length *length, uint64_t events, bool is_whole)
{
	if (events > length->most)
		length->most = events;
	if (events > length->expected)
		length->expected = events;
	else if (is_whole)
		length->expected -= (length->expected - events) / 16;
}
