/* EXPECT: join-gone strategy=random runs<=500 */
/*
 * Pattern: a thread is joined twice.
 *
 * Any thread may stop a service. A thread that finds the service running waits for the service's
 * thread to end, and marks it as stopped afterwards.
 *
 * Fails when: main finds the service running; main.1 stops all of it; main joins a thread whose memory
 * the C library may have given to another one.
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
	bool was_stopped;

	pthread_mutex_lock(&service.lock);
	was_stopped = service.is_stopped;
	pthread_mutex_unlock(&service.lock);
	if (was_stopped)
		return;
	pthread_join(service.thread, NULL);
	pthread_mutex_lock(&service.lock);
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
