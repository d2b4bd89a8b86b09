/* EXPECT: passed runs=20000 */
/*
 * Pattern: test and act in one step.
 *
 * Two threads shut the same thing down. Each of them frees what it has found.
 *
 * Corrected: a thread that takes the pointer leaves none behind. Cannot fail: only one thread finds it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *buffer; /* guarded by lock */

static void *shut_down(void *unused)
{
	char *mine;

	(void)unused;
	pthread_mutex_lock(&lock);
	mine = buffer;
	buffer = NULL;
	pthread_mutex_unlock(&lock);
	free(mine);
	return NULL;
}

int main(void)
{
	pthread_t closers[2];

	buffer = malloc(100);
	for (int i = 0; i < 2; i++)
		pthread_create(&closers[i], NULL, shut_down, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(closers[i], NULL);
	puts(buffer ? "open" : "shut down");
	return 0;
}
