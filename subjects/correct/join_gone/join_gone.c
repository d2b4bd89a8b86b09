/* EXPECT: passed runs=20000 */
/*
 * Pattern: a thread is joined once.
 *
 * Any thread may stop a service. A thread that finds it running waits for its thread to end.
 *
 * Corrected: the test and the join are one step. Cannot fail: the second thread finds it stopped.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
	pthread_mutex_t lock;
	pthread_t thread;
	bool is_stopped; /* guarded by lock */
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void service_stop(void)
{
	pthread_mutex_lock(&service.lock);
	if (!service.is_stopped)
		pthread_join(service.thread, NULL);
	service.is_stopped = true;
	pthread_mutex_unlock(&service.lock);
}

static void *serve(void *unused)
{
	(void)unused;
	return NULL;
}

static void *give_up(void *unused)
{
	(void)unused;
	service_stop();
	return NULL;
}

int main(void)
{
	pthread_t user;

	pthread_create(&service.thread, NULL, serve, NULL);
	pthread_create(&user, NULL, give_up, NULL);
	service_stop();
	pthread_join(user, NULL);
	printf("stopped\n");
	return 0;
}
