/* EXPECT: double-free runs<=500 */
/*
 * Pattern: test, then act, with the lock released in between.
 *
 * Two threads shut the same thing down. Each of them frees the object that it found, and clears the
 * pointer afterwards.
 *
 * Fails when: main.0 reads the pointer; main.1 reads it before main.0 has locked again. Natively the C
 * library mostly says nothing: each thread keeps what it has freed for itself.
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
	pthread_mutex_unlock(&lock);
	free(mine);
	pthread_mutex_lock(&lock);
	buffer = NULL;
	pthread_mutex_unlock(&lock);
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
