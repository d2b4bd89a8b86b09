/* EXPECT: abort runs<=500 needs=memory */
/*
 * The travelling salesman's problem, searched by several threads from different first stops; the best
 * length so far is compared and stored in two steps.
 *
 * Fails when: main.0, which searches from the first stop, and main.1, from the second, have both seen that no
 * tour is known; main.0 stores the shortest; main.1 stores its own over it.
 *
 * EXPECT-BOUNDS: c=2 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 best @compare @store @store
 * EXPECT-TIMES: TSP threads=18 paper=4.2/4.23/32.6/110/1180 -DTHREADS=17 -DROUNDS=20000
 * EXPECT-BRANCH: while ((first = atomic_fetch_add(&next_stop, 1)) < CITIES) { [benign|bug]
 * EXPECT-BRANCH: if (tour->stops[i] == city) [benign|bug] behind
 */
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
	if (length < atomic_load(&best))     /* @compare */
		atomic_store(&best, length); /* @store */
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
