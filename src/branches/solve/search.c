/* The caller's side of the search: start of workers, answers, time limits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bug.h"
#include "base/array.h"
#include "branches/solve/sensitivity_internal.h"

/* Interval of progress callbacks while workers run. */
#define PROGRESS_NS 100000000

uint64_t search_now_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time); /* cannot fail */
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

bool search_is_late(const struct sensitivity *analysis)
{
	const uint64_t end = search_end_ns(analysis);

	return end && search_now_ns() > end;
}

/* Time that the search waits, twice, for an interrupted solver, which may not react. */
#define GRACE_NS UINT64_C(200000000)

uint64_t search_end_ns(const struct sensitivity *analysis)
{
	/* Relaxed: no other data depends on this value. */
	const uint64_t time_ns = __atomic_load_n(&analysis->time_ns, __ATOMIC_RELAXED);

	return time_ns ? analysis->begin_ns + time_ns : 0;
}

void search_hurry(struct sensitivity *analysis, uint64_t time_ns)
{
	const uint64_t end = search_now_ns() + time_ns;

	if (!search_end_ns(analysis) || search_end_ns(analysis) > end)
		__atomic_store_n(&analysis->time_ns, end - analysis->begin_ns, __ATOMIC_RELAXED);
}

bool search_is_wanted(const struct sensitivity *analysis, enum search_pass pass,
	const struct walk_event *event, uint32_t *out)
{
	const struct sensitivity_options *options = &analysis->options;
	const uint32_t location = locations_of(&analysis->locations, event);
	bool fails;

	if (location == LOCATION_NONE || analysis->locations.items[location].is_excluded)
		return false;
	if (event->position < options->points_from ||
		(options->points_to && event->position > options->points_to))
		return false;
	*out = location;
	fails = sensitive_is_failure(locations_kind(event));
	if (pass == PASS_ANY)
		return fails || !analysis->options.only_failures;
	return search_is_of_failures(pass) ? fails : !fails;
}

void search_open(struct sensitivity *analysis)
{
	struct search *search = &analysis->search;
	pthread_condattr_t attributes;

	(void)pthread_mutex_init(&search->lock, NULL); /* neither fails on Linux */
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&search->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	chunk_rewind(&search->cursor, analysis, search_window(analysis, search->pass));
}

/* Starts the workers. Caller holds search.lock. */
static void search_begin(struct sensitivity *analysis)
{
	struct search *search = &analysis->search;
	const uint32_t count = analysis->options.workers ? analysis->options.workers : 1;

	search->workers = array_new(count, sizeof *search->workers);
	for (; search->worker_count < count; search->worker_count++) {
		struct worker *worker = &search->workers[search->worker_count];

		worker->analysis = analysis;
		chunk_open(&worker->chunk, analysis);
		worker->queries =
			array_new(analysis->locations.count + 1u, sizeof *worker->queries);
		if (pthread_create(&worker->thread, NULL, search_work, worker)) {
			chunk_release(&worker->chunk);
			free(worker->queries);
			break;
		}
		search->running++;
	}
	BUG_ON(!search->worker_count); /* the search has no memory for a single thread */
}

/* Waits for the workers, at most until the next progress report. Caller holds search.lock, which
 * the progress callback releases. */
static void search_wait_for_workers(struct sensitivity *analysis)
{
	struct search *search = &analysis->search;
	struct sensitivity_figures figures;
	struct timespec until;
	bool continues;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += PROGRESS_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (pthread_cond_timedwait(&search->changed, &search->lock, &until) != ETIMEDOUT ||
		!analysis->options.waiting)
		return;
	figures = analysis->figures;
	(void)pthread_mutex_unlock(&search->lock);
	continues = analysis->options.waiting(analysis->options.context, &figures);
	(void)pthread_mutex_lock(&search->lock);
	search->is_stopping |= !continues;
}

/* Interrupts the solvers, because Z3 does not always keep its own time limit. Caller holds
 * search.lock. */
static void search_interrupt(const struct search *search)
{
	for (uint32_t i = 0; i < search->worker_count; i++)
		if (search->workers[i].z3)
			Z3_interrupt(search->workers[i].z3);
}

struct worker *search_next(struct sensitivity *analysis)
{
	struct search *search = &analysis->search;

	if ((!search->workers || search->is_buffered) && runs_next(analysis)) {
		search->current = &search->observer;
		return search->current;
	}
	if (search->is_buffered)
		return NULL;
	(void)pthread_mutex_lock(&search->lock);
	if (!search->workers)
		search_begin(analysis);
	search->current = NULL;
	for (;;) {
		for (uint32_t i = 0; i < search->worker_count && !search->current; i++)
			if (search->workers[i].is_waiting)
				search->current = &search->workers[i];
		if (search->current || !search->running || search->is_stopping)
			break;
		search_wait_for_workers(analysis);
		if (search_is_late(analysis))
			search_interrupt(search);
		if (search->running && search_is_late(analysis) &&
			search_now_ns() - search_end_ns(analysis) > GRACE_NS) {
			search_count_left(analysis);
			search->is_stopping = true;
		}
	}
	(void)pthread_mutex_unlock(&search->lock);
	return search->current;
}

void search_continue(struct sensitivity *analysis, enum sensitivity_verdict verdict)
{
	const bool is_proven = verdict == VERDICT_FLIPPED;
	struct search *search = &analysis->search;
	struct worker *worker = search->current;
	struct asked *location;

	BUG_ON(!worker);
	location = &analysis->locations.items[worker->location];
	(void)pthread_mutex_lock(&search->lock);
	location->is_proven |= is_proven;
	location->tries += !is_proven;
	worker->is_waiting = false;
	(void)pthread_cond_broadcast(&search->changed);
	(void)pthread_mutex_unlock(&search->lock);
}

/* Interrupts all solvers and waits for their ends. Returns false if one ignores the interruption;
 * its memory is then leaked. Caller holds search.lock. */
static bool search_wait_for_ends(struct search *search)
{
	const uint64_t end = search_now_ns() + GRACE_NS;

	while (search->running && search_now_ns() < end) {
		struct timespec until = {.tv_sec = (time_t)(end / 1000000000u),
			.tv_nsec = (long)(end % 1000000000u)};

		search_interrupt(search);
		(void)pthread_cond_timedwait(&search->changed, &search->lock, &until);
	}
	return !search->running;
}

bool search_close(struct sensitivity *analysis)
{
	struct search *search = &analysis->search;
	bool have_ended;

	(void)pthread_mutex_lock(&search->lock);
	search->is_stopping = true;
	(void)pthread_cond_broadcast(&search->changed);
	have_ended = search_wait_for_ends(search);
	(void)pthread_mutex_unlock(&search->lock);
	for (uint32_t i = 0; i < search->worker_count && have_ended; i++) {
		(void)pthread_join(search->workers[i].thread, NULL);
		chunk_release(&search->workers[i].chunk);
		free(search->workers[i].queries);
		solution_release(&search->workers[i].solution);
	}
	if (!have_ended)
		return false;
	runs_close(analysis);
	free(search->cursor.ends);
	free(search->workers);
	(void)pthread_cond_destroy(&search->changed);
	(void)pthread_mutex_destroy(&search->lock);
	return true;
}

bool search_is_near(enum search_pass pass)
{
	return pass == PASS_FAILURES_NEAR || pass == PASS_BRANCHES_NEAR;
}

/* Returns whether the pass repeats earlier passes with open addresses. */
static bool search_is_open(enum search_pass pass)
{
	return pass == PASS_FAILURES_OPEN || pass == PASS_BRANCHES_OPEN;
}

bool search_is_of_failures(enum search_pass pass)
{
	return pass == PASS_FAILURES || pass == PASS_FAILURES_NEAR || pass == PASS_FAILURES_OPEN;
}

bool search_counts(enum search_pass pass)
{
	return !search_is_near(pass) && !search_is_open(pass);
}

/* Returns whether the run is one chunk, which needs only one pass in large windows, with open
 * addresses. */
static bool search_is_one_chunk(const struct sensitivity *analysis)
{
	return chunk_is_whole(analysis, analysis->options.window);
}

bool search_has_open_addresses(const struct sensitivity *analysis, enum search_pass pass)
{
	if (search_is_near(pass))
		return analysis->order.event_count <= SEARCH_OPEN_AT_ONCE_MOST;
	return search_is_open(pass) || search_is_one_chunk(analysis);
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
	if (search_is_open(pass) &&
		(search_is_one_chunk(analysis) || !analysis->order.addresses.count))
		return false;
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
	return is_any;
}

/*
 * Settlement of chunks in order (identifier `turns`). Workers search chunks ahead of each other,
 * but each chunk's results count only after all earlier chunks are settled. Results are therefore
 * independent of the number of workers.
 *
 * Earlier chunks may meanwhile have proven a chunk's locations or used up their queries. Then the
 * solver has learnt from queries that a single worker would not have asked, so the chunk is
 * searched again.
 */

/* Returns the limit of queries. Near windows get half of those per location; passes with open
 * addresses half as many again. */
uint32_t turns_queries_most(const struct worker *worker)
{
	const uint32_t most = worker->analysis->options.queries_most;

	if (search_is_open(worker->pass))
		return most + most / 2;
	return search_is_near(worker->pass) ? most / 2 : most;
}

bool turns_is_open(const struct worker *worker, uint32_t location)
{
	const struct asked *asked = &worker->analysis->locations.items[location];

	return !asked->is_proven && asked->tries < TRIES_MOST;
}

void turns_begin(struct worker *worker)
{
	memset(worker->queries, 0, worker->analysis->locations.count * sizeof *worker->queries);
	worker->timeouts = worker->unasked = 0;
	worker->is_void = false;
	worker->has_turn = worker->number == worker->analysis->search.settled;
}

/* Returns whether all queries of this chunk would also have been asked after the settled chunks. */
static bool search_is_chunk_valid(const struct worker *worker)
{
	const struct locations *locations = &worker->analysis->locations;

	for (uint32_t i = 0; i < locations->count; i++)
		if (worker->queries[i] && (!turns_is_open(worker, i) ||
						  locations->items[i].queries + worker->queries[i] >
							  turns_queries_most(worker)))
			return false;
	return true;
}

bool turns_take(struct worker *worker)
{
	struct search *search = &worker->analysis->search;

	while (worker->number != search->settled && !search->is_stopping)
		(void)pthread_cond_wait(
			&search->changed, &search->lock); /* this wait cannot fail */
	if (!worker->has_turn)
		worker->is_void = !search_is_chunk_valid(worker);
	worker->has_turn = true;
	return !worker->is_void && !search->is_stopping;
}

bool turns_end(struct worker *worker)
{
	struct sensitivity *analysis = worker->analysis;
	struct search *search = &analysis->search;

	if (!worker->is_void)
		(void)turns_take(worker); /* the result is evaluated below */
	if (worker->is_void && !search->is_stopping)
		return false;
	for (uint32_t i = 0; i < analysis->locations.count; i++) {
		analysis->locations.items[i].queries += worker->queries[i];
		analysis->figures.queries += worker->queries[i];
	}
	analysis->figures.timeouts += worker->timeouts;
	if (worker->is_asking) /* search_count_left() has counted the others */
		analysis->figures.unasked += worker->unasked;
	search->settled++;
	(void)pthread_cond_broadcast(&search->changed);
	return true;
}
