/* The passes over the run: which questions they ask, and in which windows. */
#include "branches/solve/addresses.h"
#include "branches/solve/sensitivity_internal.h"

bool search_is_near(enum search_pass pass)
{
	return pass == PASS_FAILURES_NEAR || pass == PASS_BRANCHES_NEAR;
}

bool search_is_open(enum search_pass pass)
{
	return pass == PASS_FAILURES_OPEN || pass == PASS_BRANCHES_OPEN;
}

bool search_is_failure(enum sensitive_kind kind)
{
	return kind == SENSITIVE_ASSERTION || kind == SENSITIVE_NULL || kind == SENSITIVE_DIVISOR ||
	       kind == SENSITIVE_INDEX;
}

bool search_is_of_failures(enum search_pass pass)
{
	return pass == PASS_FAILURES || pass == PASS_FAILURES_NEAR || pass == PASS_FAILURES_OPEN;
}

bool search_counts(enum search_pass pass)
{
	return !search_is_near(pass) && !search_is_open(pass);
}

/* A run that is one chunk needs only one pass in large windows, with open addresses. */
static bool is_open_at_once(const struct sensitivity *analysis)
{
	return chunk_is_whole(analysis, analysis->options.window);
}

enum constraints_kind search_kind(const struct sensitivity *analysis, enum search_pass pass)
{
	if (pass == PASS_RELAXED)
		return CONSTRAINTS_STORE_BUFFERS;
	if (search_is_near(pass) && analysis->order.event_count > SEARCH_OPEN_AT_ONCE_MOST)
		return CONSTRAINTS_PLAIN;
	return search_is_open(pass) || search_is_near(pass) || is_open_at_once(analysis)
		       ? CONSTRAINTS_OPEN
		       : CONSTRAINTS_PLAIN;
}

bool search_is_new(const struct worker *worker)
{
	const struct order *order = &worker->analysis->order;
	const struct order_window *window = &worker->chunk.window;

	if (!search_is_open(worker->pass))
		return true;
	for (uint32_t thread = 0; thread < order->thread_count; thread++)
		for (uint32_t i = window->begin[thread]; i < window->end[thread]; i++)
			if (addresses_find(&order->addresses,
				    walk_event_at(
					    order->walk, &order->walk->threads[thread].events[i])))
				return true;
	return false;
}

uint32_t search_window(const struct sensitivity *analysis, enum search_pass pass)
{
	return search_is_near(pass) ? SEARCH_NEAR_WINDOW : analysis->options.window;
}

bool search_has_pass(const struct sensitivity *analysis, enum search_pass pass)
{
	const struct sensitivity_options *options = &analysis->options;

	if (search_is_near(pass) && (options->is_global || options->window <= SEARCH_NEAR_WINDOW ||
					    chunk_is_whole(analysis, SEARCH_NEAR_WINDOW)))
		return false;
	if (search_is_open(pass) && (is_open_at_once(analysis) || !analysis->order.addresses.count))
		return false;
	if (pass == PASS_RELAXED)
		return options->has_store_buffers;
	return !options->only_failures || search_is_of_failures(pass);
}

uint64_t search_chunk_count(const struct sensitivity *analysis)
{
	uint64_t count = 0;

	for (enum search_pass pass = 0; pass < PASS_COUNT; pass++)
		if (search_has_pass(analysis, pass))
			count += chunk_count(analysis, search_window(analysis, pass));
	return count;
}

bool search_rest(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk)
{
	const uint32_t threads = analysis->order.thread_count;
	bool is_any = false;

	for (uint32_t i = 0; i < threads; i++) {
		chunk->window.begin[i] = cursor->ends[i];
		chunk->window.end[i] = (uint32_t)analysis->walk.threads[i].count;
		is_any |= chunk->window.begin[i] < chunk->window.end[i];
		cursor->ends[i] = chunk->window.end[i];
	}
	cursor->global_end = analysis->order.event_count;
	chunk->first = 0;
	chunk->last = threads ? threads - 1 : 0;
	chunk->begin = chunk->window.begin[0];
	return is_any;
}
