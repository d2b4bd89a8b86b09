/* EXPECT: destroy-held strategy=random runs<=500 */
/*
 * Pattern: destroy of a mutex that is still held.
 *
 * A job carries its own lock. Its owner throws it away as soon as it hears that the job is done,
 * and hears so before the worker has left the lock.
 *
 * Fails when: main.0 posts `done` inside the lock; main wakes up and destroys the mutex before
 * main.0 unlocks it.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

struct job {
	pthread_mutex_t lock;
	sem_t done;
	int result; /* guarded by lock */
};

static void *work(void *argument)
{
	struct job *job = argument;

	pthread_mutex_lock(&job->lock);
	job->result = 42;
	sem_post(&job->done);
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

int main(void)
{
	struct job job = {.result = 0};
	pthread_t worker;

	pthread_mutex_init(&job.lock, NULL);
	sem_init(&job.done, 0, 0);
	pthread_create(&worker, NULL, work, &job);

	sem_wait(&job.done);
	pthread_mutex_destroy(&job.lock);
	pthread_join(worker, NULL);
	printf("result %d\n", job.result);
	sem_destroy(&job.done);
	return 0;
}
