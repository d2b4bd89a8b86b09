/* Loops that end without another thread, or that remember how often they have run: no waits. The program
 * appends its last state to the file argv[1]. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "words.h"

static word_atomic a, b;
static word_atomic done;
static int tries, was_busy, last_but_one, found, other_found;

/* Gives up after two tries. */
static void try_twice(void)
{
	while (!LOAD(a) && !LOAD(b) && tries < 2)
		tries++;
}

/* Remembers that the loop was entered, and the value before the last one. */
static void remember(void)
{
	int busy = 0, value = 0, before;

	while (!LOAD(a) && !LOAD(b))
		busy = 1;
	do {
		before = value;
		value = LOAD(b);
	} while (!value);
	was_busy = busy;
	last_but_one = before;
}

/* Keeps the values with which the loop has ended. */
static void keep(void)
{
	int x = 0, y = 0;

	while ((x = LOAD(a)) < 2 && (y = LOAD(b)) < 1)
		;
	found = x;
	other_found = y;
}

/* Ends in two ways. The second way needs a read of a before both stores. */
static void leave(void)
{
	for (;;) {
		if (LOAD(a)) {
			found = 1;
			return;
		}
		if (LOAD(b)) {
			found = 2;
			return;
		}
	}
}

static void *set(void *none)
{
	STORE(a, 1);
	STORE(b, 1);
	STORE(a, 2);
	return none;
}

static void *loop(void *kind)
{
	if (kind == (void *)0)
		try_twice();
	else if (kind == (void *)1)
		remember();
	else if (kind == (void *)2)
		keep();
	else
		leave();
	STORE(done, 1);
	return NULL;
}

int main(int argc, char **argv)
{
	const long kind = argc > 2 ? atol(argv[2]) : 0;
	pthread_t setter, looper;
	FILE *file;

	if (argc < 3)
		return 2;
	pthread_create(&setter, NULL, set, NULL);
	pthread_create(&looper, NULL, loop, (void *)kind);
	pthread_join(setter, NULL);
	pthread_join(looper, NULL);
	file = fopen(argv[1], "a");
	if (!file)
		return 2;
	(void)fprintf(file, "%d %d %d %d %d\n", tries, was_busy, last_but_one, found, other_found);
	return fclose(file) != 0;
}
