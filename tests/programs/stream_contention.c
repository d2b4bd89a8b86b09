/* EXPECT: passed runs=50 */
/* flockfile: recursive, exclusive, and exclusive against what stdio itself does to the stream. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define THREADS 3
#define LINES 4

static FILE *stream;
static atomic_int begun;

static void *try_lock(void *unused)
{
	int result = ftrylockfile(stream);

	(void)unused;
	if (!result)
		funlockfile(stream);
	return (void *)(intptr_t)result;
}

static int try_elsewhere(void)
{
	pthread_t thread;
	void *result;

	MUST(pthread_create(&thread, NULL, try_lock, NULL) == 0);
	MUST(pthread_join(thread, &result) == 0);
	return (int)(intptr_t)result;
}

static void check_recursion(void)
{
	CHECK(try_elsewhere() == 0);
	flockfile(stream);
	CHECK(ftrylockfile(stream) == 0);
	CHECK(try_elsewhere() != 0);
	funlockfile(stream);
	CHECK(try_elsewhere() != 0);
	funlockfile(stream);
	CHECK(try_elsewhere() == 0);
}

/* Whole lines by pieces under the lock, and others' whole lines by one fputs without it. */
static void *write_pieces(void *unused)
{
	(void)unused;
	for (int i = 0; i < LINES; i++) {
		flockfile(stream);
		fputs("pie", stream);
		sched_yield();
		fputs("ces\n", stream);
		funlockfile(stream);
		sched_yield();
	}
	return NULL;
}

static void *write_whole(void *unused)
{
	(void)unused;
	for (int i = 0; i < LINES; i++) {
		fputs("whole\n", stream);
		sched_yield();
	}
	return NULL;
}

static void check_exclusion(void)
{
	pthread_t threads[2 * THREADS];
	char line[64];
	int pieces = 0, whole = 0, broken = 0;

	for (int i = 0; i < 2 * THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, i % 2 ? write_pieces : write_whole, NULL) ==
			0);
	for (int i = 0; i < 2 * THREADS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	rewind(stream);
	while (fgets(line, sizeof line, stream)) {
		if (!strcmp(line, "pieces\n"))
			pieces++;
		else if (!strcmp(line, "whole\n"))
			whole++;
		else
			broken++;
	}
	CHECK(pieces == THREADS * LINES);
	CHECK(whole == THREADS * LINES);
	CHECK(broken == 0);
}

static void *print_once(void *unused)
{
	(void)unused;
	begun = 1;
	fputs("later\n", stream);
	return NULL;
}

/* stdio waits for the holder, as long as that takes. */
static void check_waiting(void)
{
	pthread_t thread;
	long before;

	MUST(fseek(stream, 0, SEEK_END) == 0);
	flockfile(stream);
	before = ftell(stream);
	MUST(pthread_create(&thread, NULL, print_once, NULL) == 0);
	while (!begun)
		sched_yield();
	for (int i = 0; i < 10; i++)
		sched_yield();
	CHECK(ftell(stream) == before);
	funlockfile(stream);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(ftell(stream) == before + (long)strlen("later\n"));
}

int main(void)
{
	char memory[4096];

	stream = fmemopen(memory, sizeof memory, "w+");
	MUST(stream != NULL);
	check_recursion();
	check_exclusion();
	check_waiting();
	MUST(fclose(stream) == 0);
	return check_status();
}
