/*
 * updates ROUNDS: two threads that do nothing but update a table that both share: each access is an event.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES 1024

struct updater {
	pthread_t thread;
	unsigned number, found;
};

static volatile unsigned table[PLACES];
static long rounds;

static void *update(void *argument)
{
	struct updater *const own = argument;
	unsigned found = 0;

	for (long i = 0; i < rounds; i++) {
		const unsigned at = (unsigned)(i * 7 + own->number) % PLACES;

		table[at] += (unsigned)i;
		if (table[(at + 5) % PLACES] > 1000000u * own->number)
			found++;
	}
	own->found = found;
	return NULL;
}

int main(int argc, char **argv)
{
	struct updater updaters[2];

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	for (unsigned i = 0; i < 2; i++) {
		updaters[i].number = i;
		if (pthread_create(&updaters[i].thread, NULL, update, &updaters[i]))
			return 1;
	}
	for (int i = 0; i < 2; i++)
		(void)pthread_join(updaters[i].thread, NULL);
	printf("%u\n", updaters[0].found + updaters[1].found);
	return 0;
}
