/* EXPECT: passed runs=20000 */
/*
 * Pattern: stop and join.
 *
 * Any thread may stop a service, the service's own thread too when its work is done. Others wait
 * for the thread to end.
 *
 * Corrected: the service's own thread only leaves word; main always joins. Cannot fail: only main
 * joins, once, and the service waits for nothing.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
	pthread_mutex_t lock;
	pthread_t thread;
	bool is_stopping; /* guarded by lock */
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void service_stop(void)
{
	pthread_mutex_lock(&service.lock);
	bool is_own_thread = pthread_equal(service.thread, pthread_self());
	service.is_stopping = true;
	pthread_mutex_unlock(&service.lock);
	if (!is_own_thread)
		pthread_join(service.thread, NULL);
}

static void *serve(void *unused)
{
	(void)unused;
	service_stop(); /* nothing to serve today */
	return NULL;
}

int main(void)
{
	pthread_mutex_lock(&service.lock);
	pthread_create(&service.thread, NULL, serve, NULL);
	pthread_mutex_unlock(&service.lock);
	service_stop();
	printf("stopped\n");
	return 0;
}
