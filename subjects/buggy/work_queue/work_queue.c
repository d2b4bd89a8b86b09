/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: work queue (a worker notes which job is being done in a place that all workers share).
 *
 * Fails when: main.0 takes a job and notes it as current; main.1 takes the next one and notes it; main.0
 * does the current job, which is main.1's, and its own is never done.
 *
 * EXPECT-PATTERN: W1-W2-R1 queue.current @note @note @current
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define JOBS 3
#define WORKERS 2

struct queue {
	pthread_mutex_t lock;
	int next; /* guarded by lock */
	atomic_int current;
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
		atomic_store(&queue.current, job);	     /* @note */
		do_job(worker, atomic_load(&queue.current)); /* @current */
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
