/*
 * accesses KIND THREADS OPS: threads that access shared memory without races, OPS accesses in all.
 * Kinds: own (each thread a counter of its own, that main reads in the end), reads (all read one
 * table), atomic (all add to one counter), locked (each access in a critical section of its own).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64

static long each;
static volatile long own[THREADS_MAX * 8]; /* volatile: every access is made */
static volatile long table[16];
static atomic_long total;
static volatile long guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count_own(void *argument)
{
	volatile long *mine = argument;

	for (long i = 0; i < each / 2; i++)
		*mine = *mine + 1;
	return NULL;
}

static void *read_table(void *argument)
{
	long sum = 0;

	for (long i = 0; i < each; i++)
		sum += table[i % 16];
	*(volatile long *)argument = sum;
	return NULL;
}

static void *add(void *argument)
{
	for (long i = 0; i < each; i++)
		atomic_fetch_add(&total, 1);
	return argument;
}

static void *add_locked(void *argument)
{
	for (long i = 0; i < each / 2; i++) {
		pthread_mutex_lock(&lock);
		guarded = guarded + 1;
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

static const struct {
	const char *name;
	void *(*body)(void *);
} kinds[] = {{"own", count_own}, {"reads", read_table}, {"atomic", add}, {"locked", add_locked}};

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 4;
	pthread_t threads[THREADS_MAX];
	void *(*body)(void *) = NULL;
	long sum = 0;

	for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			body = kinds[i].body;
	if (!body || count < 1 || count > THREADS_MAX)
		return 2;
	each = (argc > 3 ? atol(argv[3]) : 100000) / count;
	for (int i = 0; i < 16; i++)
		table[i] = i;
	/* Twice: what the threads write is theirs and another's, so that it is watched. */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < count; i++)
			if (pthread_create(&threads[i], NULL, body, (void *)&own[8 * i]) != 0)
				return 2;
		for (int i = 0; i < count; i++)
			pthread_join(threads[i], NULL);
		for (int i = 0; i < 16; i++)
			table[i]++;
		for (int i = 0; i < count; i++)
			sum += own[8 * i];
	}
	return sum == -1;
}
