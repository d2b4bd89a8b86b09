/* A lost wake-up of a condition variable on main's stack. It is rare, and does not depend on the layout of memory. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int jobs;
	volatile bool is_ending;
};

static void *work(void *argument)
{
	struct queue *queue = argument;

	pthread_mutex_lock(&queue->lock);
	while (!queue->is_ending) {
		queue->jobs = 0;
		pthread_cond_wait(&queue->changed, &queue->lock);
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

static void add(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->jobs++;
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

int main(void)
{
	struct queue queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};
	pthread_t worker;

	pthread_create(&worker, NULL, work, &queue);
	add(&queue);
	add(&queue);
	queue.is_ending = true; /* without the lock */
	pthread_cond_signal(&queue.changed);
	return pthread_join(worker, NULL);
}
