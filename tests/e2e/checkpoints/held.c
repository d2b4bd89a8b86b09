/*
 * held [frugal]: a heap so large that the rewind keeps its starting content in a forked process, and two
 * mappings that forks do not inherit. Three threads write to pages of all of them; main checks those pages and
 * samples the others. The forked process is no child of the program: a wait finds none, and sleeps stay virtual.
 * frugal: also fails if the process ever had much more memory than the program uses.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 3
#define HEAP_BYTES ((size_t)48 << 20)
#define OWN_BYTES ((size_t)1 << 20)
#define PAGE 4096
#define THREADS 3
#define TURNS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *blocks[BLOCKS];
static const size_t sizes[BLOCKS] = {HEAP_BYTES, OWN_BYTES, OWN_BYTES};
static size_t turn;

static void *work(void *argument)
{
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&lock);
		for (int k = 0; k < BLOCKS; k++)
			blocks[k][turn * (sizes[k] / PAGE / (THREADS * TURNS)) * PAGE +
				  (size_t)argument]++;
		turn++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static char *map(size_t bytes, int advice)
{
	char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED || (advice && madvise(start, bytes, advice)))
		exit(2);
	memset(start, 5, bytes);
	return start;
}

static void check(void)
{
	for (int k = 0; k < BLOCKS; k++) {
		size_t marks = 0;

		for (size_t at = 0; at < sizes[k]; at += PAGE)
			for (size_t i = 0; i < THREADS; i++) {
				const int value = blocks[k][at + i];

				if (value != 5 && value != 6)
					abort();
				marks += value == 6;
			}
		if (marks != THREADS * TURNS) {
			fprintf(stderr, "%zu marks in block %d\n", marks, k);
			abort();
		}
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	struct rusage usage;

	blocks[0] = map(HEAP_BYTES, 0);
	blocks[1] = map(OWN_BYTES, MADV_DONTFORK);
	blocks[2] = map(OWN_BYTES, MADV_WIPEONFORK);
	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	check();
	if (wait(NULL) != -1 || errno != ECHILD)
		abort();
	sleep(1000);
	if (argc > 1 && strcmp(argv[1], "frugal") == 0 && !getrusage(RUSAGE_SELF, &usage) &&
		(size_t)usage.ru_maxrss * 1024 > HEAP_BYTES + HEAP_BYTES / 2)
		abort();
	return 0;
}
