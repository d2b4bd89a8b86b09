/* EXPECT: passed runs=500 needs=memory */
/* The twin of work_queue: every worker has a current job of its own. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#define JOBS 3
#define WORKERS 2

struct queue {
	pthread_mutex_t lock;
	int next; /* guarded by lock */
};

struct worker {
	pthread_t thread;
	int done[JOBS]; /* how often */
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool queue_take(int *job)
{
	bool has_job;

	pthread_mutex_lock(&queue.lock);
	has_job = queue.next < JOBS;
	if (has_job)
		*job = queue.next++;
	pthread_mutex_unlock(&queue.lock);
	return has_job;
}

static void do_job(struct worker *worker, int job)
{
	worker->done[job]++;
}

static void *work(void *argument)
{
	struct worker *const worker = argument;
	int job;

	while (queue_take(&job)) {
		do_job(worker, job);
	}
	return NULL;
}

int main(void)
{
	struct worker workers[WORKERS] = {0};

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	for (int job = 0; job < JOBS; job++) {
		int done = 0;

		for (int i = 0; i < WORKERS; i++)
			done += workers[i].done[job];
		assert(done == 1);
	}
	return 0;
}
