/* EXPECT: abort runs<=300 needs=memory */
/*
 * A meta search asks several engines at once and stores the best hit. The lock guards its rank and
 * its address each by itself, and not both together.
 *
 * Fails when: main.0 stores the rank of its hit; main.1, whose hit is better, stores rank and
 * address; main.0 stores its own address, which now has the rank of the other hit.
 *
 * EXPECT-PATTERN: W1x-W2x-W2y-W1y best.rank @rank @rank @page @page
 * EXPECT-VIOLATION: W1x-W2x-W2y-W1y offer offer @rank @rank @page @page
 * EXPECT-BRANCH: if (is_better) [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define ENGINES 2

struct hit {
	long rank; /* low is good */
	long page;
};

struct best {
	pthread_mutex_t lock;
	long rank; /* guarded by lock */
	long page; /* guarded by lock */
};

static struct best best = {.lock = PTHREAD_MUTEX_INITIALIZER, .rank = 100};

static bool best_take_rank(long rank)
{
	pthread_mutex_lock(&best.lock);
	const bool is_better = rank < best.rank;

	if (is_better)
		best.rank = rank; /* @rank */
	pthread_mutex_unlock(&best.lock);
	return is_better;
}

static void best_set_page(long page)
{
	pthread_mutex_lock(&best.lock);
	best.page = page; /* @page */
	pthread_mutex_unlock(&best.lock);
}

static void offer(const struct hit *hit)
{
	if (best_take_rank(hit->rank))
		best_set_page(hit->page);
}

/* Steps of its own that the second thread makes first: the first argument. */
static long steps_apart;

static void stay_apart(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
}

static void *ask_engine(void *argument)
{
	const struct hit *const hits = argument;

	if (hits[0].rank == 20)
		stay_apart();
	for (int i = 0; i < 2; i++)
		offer(&hits[i]);
	return NULL;
}

int main(int count, char **arguments)
{
	struct hit answers[ENGINES][2] = {{{30, 1030}, {10, 1010}}, {{20, 1020}, {40, 1040}}};
	pthread_t engines[ENGINES];

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	for (int i = 0; i < ENGINES; i++)
		pthread_create(&engines[i], NULL, ask_engine, answers[i]);
	for (int i = 0; i < ENGINES; i++)
		pthread_join(engines[i], NULL);
	assert(best.rank == 10);
	assert(best.page == 1000 + best.rank);
	return 0;
}
