/* EXPECT: abort runs<=300 needs=memory */
/*
 * The result of a job is written over its cancellation.
 *
 * Fails when: main.0 marks the job as running; main cancels it; main.0 marks it as done, and the
 * cancellation is lost, although main reports it.
 *
 * EXPECT-PATTERN: W1-W2-W1 job.status @run @cancel @done
 * EXPECT-BRANCH: if (atomic_load(&job.status) != RUNNING) [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum status { WAITING, RUNNING, DONE, CANCELLED };

struct job {
	atomic_int status; /* enum status */
	atomic_int steps;
};

static struct job job;

static void job_run(void)
{
	atomic_store(&job.status, RUNNING); /* @run */
	for (int i = 0; i < 3; i++)
		atomic_fetch_add(&job.steps, 1);
	atomic_store(&job.status, DONE); /* @done */
}

/* Returns false if the job has ended: it cannot be cancelled. */
static bool job_cancel(void)
{
	if (atomic_load(&job.status) != RUNNING)
		return false;
	atomic_store(&job.status, CANCELLED); /* @cancel */
	return true;
}

static void *work(void *unused)
{
	job_run();
	return unused;
}

int main(void)
{
	pthread_t worker;

	pthread_create(&worker, NULL, work, NULL);
	const bool is_cancelled = job_cancel();

	pthread_join(worker, NULL);
	assert((atomic_load(&job.status) == CANCELLED) == is_cancelled);
	return 0;
}
