/* EXPECT: join-self strategy=random runs<=200 */
/*
 * Pattern: a thread that joins itself.
 *
 * Any thread may stop a service, the service's own thread too when its work is done. The first who
 * does waits for the thread to end.
 *
 * Fails when: main.0 locks in service_stop before main does: it is the first, and joins itself.
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
	bool is_first = !service.is_stopping;
	service.is_stopping = true;
	pthread_mutex_unlock(&service.lock);
	if (is_first)
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
