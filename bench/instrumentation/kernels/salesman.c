/* The travelling salesman by branch and bound over a dozen cities. */
#include <stdbool.h>
#include <stdio.h>

#define CITIES 12

static int distances[CITIES][CITIES];
static bool is_visited[CITIES];
static int path[CITIES];
int best = 1 << 30;
static long visits;

static void extend(int depth, int length)
{
	const int here = path[depth - 1];

	visits++;
	if (length >= best)
		return;
	if (depth == CITIES) {
		const int tour = length + distances[here][path[0]];

		if (tour < best)
			best = tour;
		return;
	}
	for (int city = 1; city < CITIES; city++) {
		if (is_visited[city])
			continue;
		is_visited[city] = true;
		path[depth] = city;
		extend(depth + 1, length + distances[here][city]);
		is_visited[city] = false;
	}
}

int main(void)
{
	for (int i = 0; i < CITIES; i++)
		for (int j = 0; j < CITIES; j++)
			distances[i][j] = i == j ? 0 : 10 + (i * j * 37 + (i + j) * 11) % 90;
	path[0] = 0;
	is_visited[0] = true;
	extend(1, 0);
	printf("%d %ld\n", best, visits);
	return 0;
}
