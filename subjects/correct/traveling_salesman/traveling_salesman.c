/* EXPECT: passed runs=200 needs=memory */
/* The twin of traveling_salesman: a length is stored only over the one that it was compared with. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define CITIES 5
#ifndef THREADS
#define THREADS 2
#endif
#define FAR 1000
#ifndef ROUNDS
#define ROUNDS 1
#endif

struct tour {
	int length;
	int count; /* number of stops */
	int stops[CITIES];
};

/* Some roads lead one way only, others back are longer. */
static const int distances[CITIES][CITIES] = {
	{0, 3, 9, 8, 9},
	{3, 0, 4, 9, 8},
	{9, 4, 0, 2, 9},
	{8, 9, 2, 0, 5},
	{7, 8, 9, 5, 0},
};
static atomic_int best = FAR;
static atomic_int next_stop = 1;

static void store_if_better(int length)
{
	int known = atomic_load(&best);

	while (length < known)
		if (atomic_compare_exchange_weak(&best, &known, length))
			return;
}

static int is_visited(const struct tour *tour, int city)
{
	for (int i = 0; i < tour->count; i++)
		if (tour->stops[i] == city)
			return 1;
	return 0;
}

static void visit(struct tour *tour, int city)
{
	const int last = tour->stops[tour->count - 1];

	tour->length += distances[last][city];
	tour->stops[tour->count] = city;
	tour->count++;
	if (tour->count == CITIES)
		store_if_better(tour->length + distances[city][0]);
	for (int next = 1; next < CITIES && tour->count < CITIES; next++)
		if (!is_visited(tour, next))
			visit(tour, next);
	tour->count--;
	tour->length -= distances[last][city];
}

static void *search(void *unused)
{
	int first;

	while ((first = atomic_fetch_add(&next_stop, 1)) < CITIES) {
		for (int i = 0; i < ROUNDS; i++) {
			struct tour tour = {.count = 1};

			visit(&tour, first);
		}
	}
	return unused;
}

int main(void)
{
	pthread_t searchers[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&searchers[i], NULL, search, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(searchers[i], NULL);
	assert(atomic_load(&best) == 3 + 4 + 2 + 5 + 7);
	return 0;
}
