/* A reader whose pointer leads to its own variable, but for one value of the writer's counter, the argument. Only there do both
 * threads access `shared`, by an instruction that has been seen at memory of one thread. With argument 1, one order reads
 * the own variable, and 3 read `shared` before, between and behind the writer's last two stores. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int last;
static _Atomic int counter;
static _Alignas(64) volatile long own = 2;
static _Alignas(64) volatile long shared = 2;

static void *write_shared(void *unused)
{
	for (int i = 1; i < 2 * last; i++) {
		atomic_store(&counter, i);
		if (i == last) {
			shared = 1;
			shared = 2;
		}
	}
	return unused;
}

static void *read_cell(void *is_checked)
{
	volatile long *cell = atomic_load(&counter) == last ? &shared : &own;
	long value = *cell;

	own = value;
	assert(!is_checked || value == 2);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t reader, writer;

	last = argc > 1 ? atoi(argv[1]) : 1;
	pthread_create(&reader, NULL, read_cell, argc > 2 ? argv : NULL);
	pthread_create(&writer, NULL, write_shared, NULL);
	pthread_join(reader, NULL);
	pthread_join(writer, NULL);
	return 0;
}
