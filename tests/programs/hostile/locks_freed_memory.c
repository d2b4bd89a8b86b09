/* EXPECT: use-after-free runs<=1 */
/*
 * Locks a mutex that lies in freed memory, as it was left there: it looks free. No other thread can
 * move by then: the thread continues.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
	char name
		[32]; /* keeps the lock away from the words that the allocator writes into a freed block */
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
