/* A branch and bound search for the shortest round trip. Two threads share the best length so far. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CITIES_MOST 20

struct trip {
	int path[CITIES_MOST], used[CITIES_MOST];
};

static int cities, distance[CITIES_MOST][CITIES_MOST], nearest[CITIES_MOST];
static int best = 1 << 30;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void finish(int cost)
{
	pthread_mutex_lock(&lock);
	if (cost < best)
		best = cost;
	pthread_mutex_unlock(&lock);
}

static void search(struct trip *trip, int depth, int cost, int bound)
{
	const int last = trip->path[depth - 1];

	if (cost + bound >= best)
		return;
	if (depth == cities) {
		finish(cost + distance[last][0]);
		return;
	}
	for (int next = 1; next < cities; next++) {
		if (trip->used[next])
			continue;
		trip->used[next] = 1;
		trip->path[depth] = next;
		search(trip, depth + 1, cost + distance[last][next], bound - nearest[last]);
		trip->used[next] = 0;
	}
}

static int bound;

static void *worker(void *argument)
{
	struct trip *trip = calloc(1, sizeof *trip);

	trip->used[0] = 1;
	for (int first = 1 + (int)(long)argument; first < cities; first += 2) {
		trip->used[first] = 1;
		trip->path[1] = first;
		search(trip, 2, distance[0][first], bound - nearest[0]);
		trip->used[first] = 0;
	}
	free(trip);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned random = 7;
	pthread_t threads[2];

	cities = argc > 1 ? atoi(argv[1]) : 14;
	for (int i = 0; i < cities; i++) {
		nearest[i] = 1 << 30;
		for (int j = 0; j < cities; j++) {
			random = random * 1103515245 + 12345;
			distance[i][j] = i == j ? 0 : 100 + (int)(random >> 16) % 150;
			if (i != j && distance[i][j] < nearest[i])
				nearest[i] = distance[i][j];
		}
		bound += nearest[i];
	}
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", best);
	return 0;
}
