/* EXPECT: passed runs=300 needs=memory */
/* The twin of job_status: a status follows only the one that it was made for. */
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
	int waiting = WAITING, running = RUNNING;

	if (!atomic_compare_exchange_strong(&job.status, &waiting, RUNNING))
		return;
	for (int i = 0; i < 3; i++)
		atomic_fetch_add(&job.steps, 1);
	atomic_compare_exchange_strong(&job.status, &running, DONE);
}

/* Returns false if the job has ended: it cannot be cancelled. */
static bool job_cancel(void)
{
	int running = RUNNING;

	return atomic_compare_exchange_strong(&job.status, &running, CANCELLED);
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
