/* EXPECT: passed runs=200 needs=memory */
/* The twin of meta_search: rank and address are stored in one locked step. */
#include <assert.h>
#include <pthread.h>

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

static void offer(const struct hit *hit)
{
	pthread_mutex_lock(&best.lock);
	if (hit->rank < best.rank) {
		best.rank = hit->rank;
		best.page = hit->page;
	}
	pthread_mutex_unlock(&best.lock);
}

static void *ask_engine(void *argument)
{
	const struct hit *const hits = argument;

	for (int i = 0; i < 2; i++)
		offer(&hits[i]);
	return NULL;
}

int main(void)
{
	struct hit answers[ENGINES][2] = {{{30, 1030}, {10, 1010}}, {{20, 1020}, {40, 1040}}};
	pthread_t engines[ENGINES];

	for (int i = 0; i < ENGINES; i++)
		pthread_create(&engines[i], NULL, ask_engine, answers[i]);
	for (int i = 0; i < ENGINES; i++)
		pthread_join(engines[i], NULL);
	assert(best.rank == 10);
	assert(best.page == 1000 + best.rank);
	return 0;
}
