/*
 * The travelling salesman by branch and bound. Threads take beginnings of tours from a list, try
 * all continuations, and share the length of the best tour.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "run_time.h"

#ifndef SCALE
#define SCALE 1
#endif
#define WORKERS 17
#define CITIES (SCALE == 1 ? 11 : 13)
#define BEGINNINGS ((CITIES - 1) * (CITIES - 2))

static int distances[CITIES][CITIES];
static atomic_int next_beginning;
static atomic_int best = 1 << 20;
static pthread_mutex_t best_lock = PTHREAD_MUTEX_INITIALIZER;
static int best_tour[CITIES]; /* guarded by best_lock */

struct tour {
	int length, count;
	bool is_visited[CITIES];
	int stops[CITIES];
	long steps; /* tried */
};

static void keep(const struct tour *tour, int length)
{
	pthread_mutex_lock(&best_lock);
	if (length < atomic_load(&best)) {
		atomic_store(&best, length);
		for (int i = 0; i < CITIES; i++)
			best_tour[i] = tour->stops[i];
	}
	pthread_mutex_unlock(&best_lock);
}

static void visit(struct tour *tour, int city, int known)
{
	const int last = tour->stops[tour->count - 1];
	const int length = tour->length + distances[last][city];

	if (length >= known)
		return;
	tour->steps++;
	tour->length = length;
	tour->stops[tour->count++] = city;
	tour->is_visited[city] = true;
	if (tour->count == CITIES && length + distances[city][0] < known)
		keep(tour, length + distances[city][0]);
	/* The best length is read anew near the beginning of a tour, where much is saved. */
	if (tour->count < CITIES / 2)
		known = atomic_load(&best);
	for (int next = 1; next < CITIES; next++)
		if (!tour->is_visited[next])
			visit(tour, next, known);
	tour->is_visited[city] = false;
	tour->count--;
	tour->length -= distances[last][city];
}

static void *search(void *unused)
{
	int number;

	while ((number = atomic_fetch_add(&next_beginning, 1)) < BEGINNINGS) {
		const int first = 1 + number / (CITIES - 2);
		int second = 1 + number % (CITIES - 2);
		struct tour tour = {.count = 2, .length = distances[0][first], .stops = {0, first}};

		second += second >= first;
		tour.is_visited[first] = true;
		visit(&tour, second, atomic_load(&best));
	}
	return unused;
}

int main(void)
{
	pthread_t threads[WORKERS];
	unsigned seed = 7;
	int length = 0;

	for (int i = 0; i < CITIES; i++)
		for (int j = 0; j < i; j++) {
			seed = seed * 1103515245 + 12345;
			distances[i][j] = distances[j][i] = 10 + (int)((seed >> 16) % 90);
		}
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, search, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CITIES; i++)
		length += distances[best_tour[i]][best_tour[(i + 1) % CITIES]];
	assert(length == atomic_load(&best));
	run_ends();
	return 0;
}
