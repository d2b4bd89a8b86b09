/* Lists made once for all trials. */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "branches/solve/rehearsal.h"

static uint32_t *rehearsal_start_counts(const struct rehearsal *rehearsal)
{
	uint32_t *list = calloc(rehearsal->thread_count + 2u, sizeof *list);

	BUG_ON(!list);
	return list;
}

/*
 * Converts counts per thread, stored one place higher, into the index of each thread's first item.
 */
static void rehearsal_start_add_up(const struct rehearsal *rehearsal, uint32_t *first)
{
	for (uint32_t i = 0; i < rehearsal->thread_count; i++)
		first[i + 1] += first[i];
}

static void list_ranks(struct rehearsal *rehearsal)
{
	const struct order *order = rehearsal->order;

	rehearsal->ranks = calloc(rehearsal->thread_count + 1u, sizeof *rehearsal->ranks);
	BUG_ON(!rehearsal->ranks);
	for (uint32_t i = 0; i < rehearsal->thread_count; i++) {
		rehearsal->ranks[i] =
			calloc(rehearsal->walk->threads[i].count + 1, sizeof(uint32_t));
		BUG_ON(!rehearsal->ranks[i]);
	}
	for (uint64_t i = 0; i < order->event_count; i++)
		rehearsal->ranks[order->events[i].thread][order->events[i].index] = (uint32_t)i;
}

static int rehearsal_start_compare_numbers(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Numbers the locks in the order of their addresses, first for sections, then for failures. */
static void number_locks(struct rehearsal *rehearsal)
{
	const struct order *order = rehearsal->order;
	const uint32_t all = order->section_count + order->failure_count;
	uint64_t *sorted = calloc(all + 1u, sizeof *sorted);
	uint32_t count = 0;

	rehearsal->locks_of = calloc(all + 1u, sizeof *rehearsal->locks_of);
	BUG_ON(!sorted || !rehearsal->locks_of);
	rehearsal->failure_locks = rehearsal->locks_of + order->section_count;
	for (uint32_t i = 0; i < all; i++)
		sorted[i] = i < order->section_count
				    ? order->sections[i].lock
				    : rehearsal->failures[i - order->section_count].lock;
	if (all)
		qsort(sorted, all, sizeof *sorted, rehearsal_start_compare_numbers);
	for (uint32_t i = 0; i < all; i++)
		if (!i || sorted[i] != sorted[count - 1])
			sorted[count++] = sorted[i];
	for (uint32_t i = 0; i < all; i++) {
		const uint64_t lock = i < order->section_count
					      ? order->sections[i].lock
					      : rehearsal->failures[i - order->section_count].lock;
		const uint64_t *found = bsearch(
			&lock, sorted, count, sizeof *sorted, rehearsal_start_compare_numbers);

		rehearsal->locks_of[i] = (uint32_t)(found - sorted);
	}
	rehearsal->lock_count = count;
	free(sorted);
}

static int compare_failures(const void *left, const void *right)
{
	const struct event_id a = ((const struct order_failure *)left)->event;
	const struct event_id b = ((const struct order_failure *)right)->event;

	if (a.thread != b.thread)
		return a.thread < b.thread ? -1 : 1;
	return a.index < b.index ? -1 : a.index > b.index;
}

static void list_failures(struct rehearsal *rehearsal)
{
	const struct order *order = rehearsal->order;

	rehearsal->failures = calloc(order->failure_count + 1u, sizeof *rehearsal->failures);
	rehearsal->first_failure = rehearsal_start_counts(rehearsal);
	BUG_ON(!rehearsal->failures);
	if (order->failure_count) {
		memcpy(rehearsal->failures, order->failures,
			order->failure_count * sizeof *rehearsal->failures);
		qsort(rehearsal->failures, order->failure_count, sizeof *rehearsal->failures,
			compare_failures);
	}
	for (uint32_t i = 0; i < order->failure_count; i++)
		rehearsal->first_failure[rehearsal->failures[i].event.thread + 1]++;
	rehearsal_start_add_up(rehearsal, rehearsal->first_failure);
}

struct section_end {
	uint32_t end, number;
};

static int compare_ends(const void *left, const void *right)
{
	const struct section_end *a = left, *b = right;

	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void list_ends(struct rehearsal *rehearsal)
{
	const struct order *order = rehearsal->order;
	const struct order_sections *by_thread = &order->by_thread;
	struct section_end *list = calloc(order->section_count + 1u, sizeof *list);

	rehearsal->ends = calloc(order->section_count + 1u, sizeof *rehearsal->ends);
	rehearsal->first_end = rehearsal_start_counts(rehearsal);
	BUG_ON(!list || !rehearsal->ends);
	for (uint32_t thread = 0; thread < rehearsal->thread_count; thread++) {
		const uint32_t first = by_thread->first[thread];
		const uint32_t count = by_thread->first[thread + 1] - first;

		for (uint32_t i = 0; i < count; i++) {
			const uint32_t number = by_thread->items[first + i];

			list[i] = (struct section_end){order->sections[number].end, number};
		}
		if (count)
			qsort(list, count, sizeof *list, compare_ends);
		for (uint32_t i = 0; i < count; i++)
			rehearsal->ends[first + i] = list[i].number;
		rehearsal->first_end[thread + 1] = first + count;
	}
	free(list);
}

static void list_edges(struct rehearsal *rehearsal)
{
	const struct order *order = rehearsal->order;

	rehearsal->first_edge = rehearsal_start_counts(rehearsal);
	for (uint32_t i = 0; i < order->edge_count; i++)
		rehearsal->first_edge[order->edges[i].second.thread + 1]++;
	rehearsal_start_add_up(rehearsal, rehearsal->first_edge);
}

void rehearsal_list(struct rehearsal *rehearsal)
{
	list_ranks(rehearsal);
	list_edges(rehearsal);
	list_failures(rehearsal);
	list_ends(rehearsal);
	number_locks(rehearsal);
}

void rehearsal_open(struct rehearsal *rehearsal, const struct order *order, bool has_open_addresses)
{
	const uint32_t threads = order->thread_count;
	const uint32_t variables = order->walk->terms.variable_count;

	*rehearsal = (struct rehearsal){.walk = order->walk,
		.order = order,
		.thread_count = threads,
		.has_open_addresses = has_open_addresses};
	rehearsal_list(rehearsal);
	words_open(&rehearsal->words, order);
	rehearsal->recorded = calloc(threads + 1u, sizeof *rehearsal->recorded);
	rehearsal->players = calloc(threads + 1u, sizeof *rehearsal->players);
	rehearsal->recorded_locks =
		calloc(rehearsal->lock_count + 1u, sizeof *rehearsal->recorded_locks);
	rehearsal->locks = calloc(rehearsal->lock_count + 1u, sizeof *rehearsal->locks);
	rehearsal->variables = calloc(variables + 1u, sizeof *rehearsal->variables);
	BUG_ON(!rehearsal->recorded || !rehearsal->players || !rehearsal->recorded_locks ||
		!rehearsal->locks || !rehearsal->variables);
	rehearsal_rewind(rehearsal);
}

void rehearsal_rewind(struct rehearsal *rehearsal)
{
	words_rewind(&rehearsal->words);
	memset(rehearsal->recorded_locks, 0,
		rehearsal->lock_count * sizeof *rehearsal->recorded_locks);
	for (uint32_t i = 0; i < rehearsal->thread_count; i++)
		rehearsal->recorded[i] = (struct player){.edge = rehearsal->first_edge[i],
			.begin = rehearsal->order->by_thread.first[i],
			.end = rehearsal->first_end[i],
			.failure = rehearsal->first_failure[i],
			.changed = UINT32_MAX};
	rehearsal->rank = 0;
	rehearsal->recorded_steps = 0;
}

void rehearsal_release(struct rehearsal *rehearsal)
{
	for (uint32_t i = 0; rehearsal->ranks && i < rehearsal->thread_count; i++)
		free(rehearsal->ranks[i]);
	free(rehearsal->ranks);
	free(rehearsal->first_edge);
	free(rehearsal->first_end);
	free(rehearsal->first_failure);
	free(rehearsal->ends);
	free(rehearsal->failures);
	free(rehearsal->locks_of);
	free(rehearsal->recorded);
	free(rehearsal->recorded_locks);
	free(rehearsal->players);
	free(rehearsal->locks);
	free(rehearsal->done);
	free(rehearsal->variables);
	free(rehearsal->terms);
	free(rehearsal->waits);
	words_release(&rehearsal->words);
	*rehearsal = (struct rehearsal){0};
}
