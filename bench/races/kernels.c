/*
 * kernels KIND SIZE: compute-heavy work by four threads, without a race. The work grows with SIZE.
 *
 *	bodies		N bodies attract each other; a barrier between steps. All read the results of each
 *	grid		red-black relaxation of a grid in stripes: neighbours are shared at the seams
 *	matrix		a product: inputs are read by all, written before the threads begin
 *	walks		random walks, each on memory of its own; the results are added under a lock
 *	histogram	counts in shared buckets, each with its lock
 *	sort		parts are sorted in place by a thread each, then merged by main
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define BODIES 32
#define SIDE 64
#define ORDER 32
#define BUCKETS 16
#define ITEMS 1024

static long size;
static pthread_barrier_t barrier;
static double position[BODIES][3], velocity[BODIES][3];
static double grid[SIDE][SIDE];
static double left[ORDER][ORDER], right[ORDER][ORDER], product[ORDER][ORDER];
static struct {
	pthread_mutex_t lock;
	long count;
} buckets[BUCKETS];
static uint32_t items[ITEMS];

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

static void meet(void)
{
	(void)pthread_barrier_wait(&barrier); /* the special result of one thread is not used */
}

static void pull(int body)
{
	for (int other = 0; other < BODIES; other++) {
		double distance[3], square = 0.01;

		for (int axis = 0; axis < 3; axis++) {
			distance[axis] = position[other][axis] - position[body][axis];
			square += distance[axis] * distance[axis];
		}
		for (int axis = 0; axis < 3; axis++)
			velocity[body][axis] += 0.001 * distance[axis] / (square * square);
	}
}

static void move_bodies(int self)
{
	for (long step = 0; step < size; step++) {
		for (int body = self; body < BODIES; body += THREADS)
			pull(body);
		meet();
		for (int body = self; body < BODIES; body += THREADS)
			for (int axis = 0; axis < 3; axis++)
				position[body][axis] += velocity[body][axis];
		meet();
	}
}

static void relax(int self)
{
	const int first = 1 + self * (SIDE - 2) / THREADS,
		  end = 1 + (self + 1) * (SIDE - 2) / THREADS;

	for (long step = 0; step < 2 * size; step++) {
		for (int row = first; row < end; row++)
			for (int column = 1 + (row + step) % 2; column < SIDE - 1; column += 2)
				grid[row][column] =
					0.25 *
					(grid[row - 1][column] + grid[row + 1][column] +
						grid[row][column - 1] + grid[row][column + 1]);
		meet();
	}
}

static void multiply(int self)
{
	for (long round = 0; round < size; round++)
		for (int row = self; row < ORDER; row += THREADS)
			for (int column = 0; column < ORDER; column++) {
				double sum = 0;

				for (int i = 0; i < ORDER; i++)
					sum += left[row][i] * right[i][column];
				product[row][column] += sum;
			}
}

static void walk(int self)
{
	uint32_t state = (uint32_t)self;

	for (long round = 0; round < size; round++) {
		long *path = calloc(1000, sizeof *path), sum = 0;

		if (!path)
			abort();
		for (int i = 1; i < 1000; i++)
			path[i] = path[i - 1] + next_random(&state) % 3 - 1;
		for (int i = 0; i < 1000; i++)
			sum += path[i];
		free(path);
		pthread_mutex_lock(&buckets[0].lock);
		buckets[0].count += sum;
		pthread_mutex_unlock(&buckets[0].lock);
	}
}

static void count(int self)
{
	uint32_t state = (uint32_t)self;

	for (long i = 0; i < 1000 * size; i++) {
		const uint32_t bucket = next_random(&state) % BUCKETS;

		pthread_mutex_lock(&buckets[bucket].lock);
		buckets[bucket].count++;
		pthread_mutex_unlock(&buckets[bucket].lock);
	}
}

static int compare(const void *a, const void *b)
{
	return (*(const uint32_t *)a > *(const uint32_t *)b) -
	       (*(const uint32_t *)a < *(const uint32_t *)b);
}

static void sort_part(int self)
{
	uint32_t *part = items + self * (ITEMS / THREADS), state = (uint32_t)self;

	for (long round = 0; round < size; round++) {
		for (int i = 0; i < ITEMS / THREADS; i++)
			part[i] = next_random(&state);
		for (int i = 1; i < ITEMS / THREADS; i++)
			for (int j = i; j > 0 && part[j - 1] > part[j]; j--) {
				const uint32_t other = part[j];

				part[j] = part[j - 1];
				part[j - 1] = other;
			}
	}
}

static const struct {
	const char *name;
	void (*work)(int self);
} kinds[] = {{"bodies", move_bodies}, {"grid", relax}, {"matrix", multiply}, {"walks", walk},
	{"histogram", count}, {"sort", sort_part}};
static void (*work)(int self);

static void *run(void *argument)
{
	work((int)(intptr_t)argument);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; argc > 2 && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			work = kinds[i].work;
	if (!work || pthread_barrier_init(&barrier, NULL, THREADS))
		return 2;
	size = atol(argv[2]);
	for (int body = 0; body < BODIES; body++)
		for (int axis = 0; axis < 3; axis++)
			position[body][axis] = (7 * body + 3 * axis) % 11 - 5;
	for (int i = 0; i < ORDER * ORDER; i++)
		left[i / ORDER][i % ORDER] = right[i / ORDER][i % ORDER] = i % 7;
	for (int i = 0; i < BUCKETS; i++)
		pthread_mutex_init(&buckets[i].lock, NULL);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	qsort(items, ITEMS, sizeof *items, compare);
	return 0;
}
