/* EXPECT: passed runs=20000 */
/*
 * Pattern: a wait for the start of a service.
 *
 * main starts a service and sends the first request when the service has announced that it is open.
 *
 * Corrected: main waits on a condition variable instead of sleeping. Cannot fail: `is_open` is true
 * after the loop, and never becomes false again.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool is_open; /* guarded by lock */
static int requests; /* guarded by lock */

static void *serve(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	is_open = true;
	pthread_cond_signal(&opened);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void request(void)
{
	pthread_mutex_lock(&lock);
	while (!is_open)
		pthread_cond_wait(&opened, &lock);
	requests++;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	pthread_t service;

	pthread_create(&service, NULL, serve, NULL);
	request();
	pthread_join(service, NULL);
	printf("%d request\n", requests);
	return 0;
}
