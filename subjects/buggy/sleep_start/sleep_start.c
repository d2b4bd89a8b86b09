/* EXPECT: abort runs<=2000 */
/*
 * Pattern: a sleep as synchronisation.
 *
 * main starts a service and sleeps 10 ms, which has always been long enough for the service to
 * open. Then it sends the first request.
 *
 * Fails when: main.0 is stalled for 10 ms before it opens the service: main sends its request to a
 * closed service.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_open; /* guarded by lock */
static int requests; /* guarded by lock */

static void *serve(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	is_open = true;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void request(void)
{
	pthread_mutex_lock(&lock);
	assert(is_open);
	requests++;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	pthread_t service;

	pthread_create(&service, NULL, serve, NULL);
	usleep(10000);
	request();
	pthread_join(service, NULL);
	printf("%d request\n", requests);
	return 0;
}
