/*
 * Workers search chunks ahead of each other, but what they find counts in the order of the chunks, as if there were
 * one worker: so the branches that are found, and the schedules that show them, do not depend on how many
 * there are. A worker judges its answers, and adds what it asked, when its turn has come: when all chunks
 * before are settled. Those may have proven what it asked about, or used up the questions; then its solver has
 * learnt what it would not have, and the chunk is searched once more.
 */
#include <string.h>

#include "branches/solve/sensitivity_internal.h"

/* Half of the questions about a place are kept for the large windows; half as many again are asked with open addresses. */
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

/* Would all of it have been asked after the chunks before this one? */
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
			&search->changed, &search->lock); /* of the standard kind: cannot fail */
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
		(void)turns_take(worker); /* what comes of it is looked at next */
	if (worker->is_void && !search->is_stopping)
		return false;
	for (uint32_t i = 0; i < analysis->places.count; i++) {
		analysis->places.items[i].queries += worker->queries[i];
		analysis->figures.queries += worker->queries[i];
	}
	analysis->figures.timeouts += worker->timeouts;
	if (worker->is_asking) /* else it was counted */
		analysis->figures.unasked += worker->unasked;
	search->settled++;
	(void)pthread_cond_broadcast(&search->changed);
	return true;
}
