/*
 * memory [open|random|protect]: three threads with a race. Before the race, when the first thread exists, main uses memory in
 * all possible manners: the heap grows, blocks are mapped and unmapped, pages of every kind are touched for the first time.
 * Each thread also records its actions. Every run checks all memory: a run that continues from a wrong checkpoint
 * fails.
 *
 * The word names an action that a checkpoint cannot hold.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define THREADS 3
#define LARGE ((size_t)600 * 1024) /* glibc maps blocks of this size */
#define SMALL ((size_t)40 * 1024)
#define BLOCKS 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char untouched[64 * 1024]; /* zero until main writes here */
static char *blocks[BLOCKS];
static char *large;
static _Thread_local int own;
static int order[THREADS * 2], moves;

static void fail(const char *what)
{
	fprintf(stderr, "%s is not what it was\n", what);
	abort();
}

static void expect(const char *bytes, size_t size, char value, const char *what)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != value)
			fail(what);
}

/* A stack that is deeper when the race begins than at the starting point. */
static void *work(void *argument)
{
	const int number = (int)(long)argument;
	char frame[5000], *block = malloc(1000);

	if (!block)
		abort();
	memset(frame, number, sizeof frame);
	memset(block, number, 1000);
	own = number;
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		order[moves++] = number;
		large[(size_t)moves * 4096] = 1;
		blocks[number][i]++;
		pthread_mutex_unlock(&lock);
	}
	expect(frame, sizeof frame, (char)number, "a stack");
	expect(block, 1000, (char)number, "a block of a thread");
	if (own != number)
		fail("a variable of a thread");
	free(block);
	return NULL;
}

static void use_memory(void)
{
	char *mapped =
		mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mapped == MAP_FAILED)
		abort();
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(SMALL);
		if (!blocks[i])
			abort();
		memset(blocks[i], 0, SMALL);
	}
	large = malloc(LARGE / 2);
	if (!large)
		abort();
	memset(large, 3, LARGE / 2);
	large = realloc(large, LARGE);
	if (!large)
		abort();
	memset(large, 0, LARGE);
	memset(untouched, 7, sizeof untouched);
	mapped[0] = 1;
	munmap(mapped, 16384);
}

static void obstruct(const char *word)
{
	unsigned random;

	if (strcmp(word, "open") == 0)
		(void)close(open("/dev/null", O_RDONLY));
	else if (strcmp(word, "random") == 0)
		(void)getrandom(&random, sizeof random, 0);
	else if (strcmp(word, "protect") == 0)
		(void)mprotect(large - (size_t)large % 4096 + 4096, 4096, PROT_READ | PROT_WRITE);
}

static void check(void)
{
	int sum = 0, marks = 0;

	if (moves != THREADS * 2)
		fail("the count");
	for (int i = 0; i < moves; i++)
		sum += order[i];
	if (sum != 0 + 0 + 1 + 1 + 2 + 2)
		fail("the order");
	for (int i = 0; i < THREADS; i++) {
		expect(blocks[i], 2, 1, "a block");
		expect(blocks[i] + 2, SMALL - 2, 0, "a block's rest");
	}
	for (size_t i = 0; i < LARGE; i++)
		marks += large[i];
	if (marks != moves)
		fail("the large block");
	expect(untouched, sizeof untouched, 7, "data");
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++) {
		if (i == 0)
			pthread_mutex_lock(&lock); /* the first thread waits until memory is used */
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			abort();
		if (i == 0) {
			use_memory();
			if (argc > 1)
				obstruct(argv[1]);
			pthread_mutex_unlock(&lock);
		}
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	check();
	free(large);
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return 0;
}
