/* EXPECT: use-after-free runs<=1 */
/*
 * Locks a mutex that lies in freed memory, where the allocator has written over it: it looks held, for ever. It is not
 * the deadlock that it seems to be.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
	pthread_mutex_t lock;
	int is_complete;
};

static void *complete(void *argument)
{
	struct job *job = argument;

	usleep(9000);
	pthread_mutex_lock(&job->lock);
	job->is_complete = 1;
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

int main(void)
{
	struct job *job = calloc(1, sizeof *job);
	pthread_t thread;

	if (!job || pthread_create(&thread, NULL, complete, job) != 0)
		return 2;
	usleep(5000);
	free(job);
	pthread_join(thread, NULL);
	return 0;
}
