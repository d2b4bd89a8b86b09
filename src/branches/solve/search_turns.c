/*
 * Settlement of chunks in order. Workers search chunks ahead of each other, but each chunk's
 * results count only after all earlier chunks are settled. Results are therefore independent of the
 * number of workers.
 *
 * A worker delivers its answers and its counts when all earlier chunks are settled. Earlier chunks
 * may meanwhile have proven its places or used up their queries. Then the solver has learnt from
 * queries that a single worker would not have asked, so the chunk is searched again.
 */
#include <string.h>

#include "branches/solve/sensitivity_internal.h"

/*
 * Near windows get half of the queries per place; passes with open addresses get half as many again
 * on top.
 */
uint32_t turns_queries_most(const struct worker *worker)
{
	const uint32_t most = worker->analysis->options.queries_most;

	if (search_is_open(worker->pass))
		return most + most / 2;
	return search_is_near(worker->pass) ? most / 2 : most;
}

bool turns_is_open(const struct worker *worker, uint32_t place)
{
	const struct asked *asked = &worker->analysis->places.items[place];

	if (worker->pass == PASS_RELAXED)
		return !asked->is_proven && !asked->tries && !asked->is_relaxed;
	return !asked->is_proven && asked->tries < TRIES_MOST;
}

void turns_begin(struct worker *worker)
{
	memset(worker->queries, 0, worker->analysis->places.count * sizeof *worker->queries);
	worker->timeouts = worker->unasked = 0;
	worker->is_void = false;
	worker->has_turn = worker->number == worker->analysis->search.settled;
}

/* Whether all queries of this chunk would also have been asked after the settled chunks. */
static bool stands(const struct worker *worker)
{
	const struct places *places = &worker->analysis->places;

	for (uint32_t i = 0; i < places->count; i++)
		if (worker->queries[i] && (!turns_is_open(worker, i) ||
						  places->items[i].queries + worker->queries[i] >
							  turns_queries_most(worker)))
			return false;
	return true;
}

bool turns_take(struct worker *worker)
{
	struct search *search = &worker->analysis->search;

	while (worker->number != search->settled && !search->is_stopping)
		(void)pthread_cond_wait(
			&search->changed, &search->lock); /* of default kind: cannot fail */
	if (!worker->has_turn)
		worker->is_void = !stands(worker);
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
	for (uint32_t i = 0; i < analysis->places.count; i++) {
		analysis->places.items[i].queries += worker->queries[i];
		analysis->figures.queries += worker->queries[i];
	}
	analysis->figures.timeouts += worker->timeouts;
	if (worker->is_asking) /* otherwise search_count_left() has counted it */
		analysis->figures.unasked += worker->unasked;
	search->settled++;
	(void)pthread_cond_broadcast(&search->changed);
	return true;
}
