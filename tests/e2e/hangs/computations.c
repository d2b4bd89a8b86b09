/* usage: computations KIND TENTHS. Four threads compute between two operations, for about that many tenths of a second. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define ENTRIES 4096

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned total;
static int kind, tenths;
static double matrices[THREADS][3][64][64];

struct node {
	struct node *next;
	unsigned value;
};

static unsigned in_registers(unsigned sum, unsigned *table)
{
	for (unsigned i = 0; i < 40000000; i++)
		sum ^= sum << 13, sum ^= sum >> 17, sum ^= sum << 5;
	return sum + table[0];
}

static unsigned at_random_places(unsigned sum, unsigned *table)
{
	for (unsigned i = 0; i < 80000000; i++)
		sum ^= table[i * 2654435761u >> 20] += sum;
	return sum;
}

static unsigned in_order(unsigned sum, unsigned *table)
{
	for (unsigned round = 0; round < 100000; round++)
		for (unsigned i = 0; i < ENTRIES; i++)
			table[i] += sum ^ i;
	return table[sum % ENTRIES];
}

static unsigned by_matrix(unsigned sum, unsigned *table)
{
	double(*const m)[64][64] = matrices[sum % THREADS];

	for (unsigned round = 0; round < 250; round++)
		for (unsigned i = 0; i < 64; i++)
			for (unsigned j = 0; j < 64; j++)
				for (unsigned k = 0; k < 64; k++)
					m[0][i][j] += m[1][i][k] * m[2][k][j] + 1;
	return (unsigned)m[0][3][3] + table[0];
}

static int compare(const void *left, const void *right)
{
	const unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;

	return (a > b) - (a < b);
}

static unsigned by_sorting(unsigned sum, unsigned *table)
{
	for (unsigned round = 0; round < 250; round++) {
		for (unsigned i = 0; i < ENTRIES; i++)
			table[i] = sum = sum * 1664525u + 1013904223u;
		qsort(table, ENTRIES, sizeof *table, compare);
	}
	return table[7];
}

static unsigned by_copying(unsigned sum, unsigned *table)
{
	/* The lowest twelve bits of both addresses differ: some processors delay a load behind a store with the same ones. */
	for (unsigned i = 0; i < 800000; i++)
		memcpy(table + i % 8, table + ENTRIES / 2 + ENTRIES / 8, (sum + i) % 4096 + 1);
	return table[3];
}

static unsigned fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static unsigned by_recursion(unsigned sum, unsigned *table)
{
	return sum + table[0] + fibonacci(37);
}

static unsigned by_floating_point(unsigned sum, unsigned *table)
{
	double value = sum;

	for (unsigned i = 0; i < 6000000; i++)
		value = sqrt(value + table[i % ENTRIES]) + sin(value);
	return (unsigned)value;
}

static unsigned along_a_list(unsigned sum, unsigned *table)
{
	struct node *const nodes = calloc(ENTRIES, sizeof *nodes);
	struct node *at = nodes;

	for (unsigned i = 0; i < ENTRIES; i++)
		nodes[i].next = &nodes[(i * 5 + 1) % ENTRIES];
	for (unsigned i = 0; i < 24000000; i++, at = at->next)
		at->value += sum;
	sum = at->value + table[0];
	free(nodes);
	return sum;
}

static unsigned in_blocks(unsigned sum, unsigned *table)
{
	for (unsigned i = 0; i < 5000000; i++) {
		unsigned *volatile const block = malloc(16 + sum % 500);

		block[0] = table[i % ENTRIES] + i;
		sum = sum * 31 + block[0];
		free(block);
	}
	return sum;
}

static unsigned (*const kinds[])(unsigned, unsigned *) = {in_registers, at_random_places, in_order,
	by_matrix, by_sorting, by_copying, by_recursion, by_floating_point, along_a_list,
	in_blocks};

static void *compute(void *seed)
{
	unsigned *const table = calloc(2 * ENTRIES, sizeof *table);
	unsigned sum = (unsigned)(size_t)seed;

	for (int i = 0; i < tenths; i++)
		sum += kinds[kind](sum + 1, table);
	free(table);
	pthread_mutex_lock(&mutex);
	total += sum;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];

	if (count != 3)
		return 2;
	kind = atoi(arguments[1]);
	tenths = atoi(arguments[2]);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, compute, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
