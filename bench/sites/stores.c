/*
 * stores KIND N: a thread stores N times to
 *   static   a variable that no other thread touches
 *   heap     a block of its own
 *   stack    a local variable
 *   shared   a variable that another thread has written
 * Each store is an access that raddle-cc makes a site; the loop around it is nothing beside it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static volatile long own_static, shared;
static long count;

__attribute__((noinline)) static void *store(void *to)
{
	volatile long *variable = to;

	for (long i = 0; i < count; i++)
		*variable = i;
	return NULL;
}

static void *store_to_stack(void *unused)
{
	volatile long local = 0;

	(void)unused;
	return store((void *)&local);
}

static void *touch(void *unused)
{
	shared = 1;
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	volatile long *target = &own_static;
	void *(*body)(void *) = store;

	if (argc != 3)
		return 2;
	count = atol(argv[2]);
	if (strcmp(argv[1], "heap") == 0)
		target = malloc(sizeof *target);
	else if (strcmp(argv[1], "stack") == 0)
		body = store_to_stack;
	else if (strcmp(argv[1], "shared") == 0)
		target = &shared;
	if (!target || pthread_create(&threads[0], NULL, touch, NULL) != 0 ||
		pthread_create(&threads[1], NULL, body, (void *)target) != 0)
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
