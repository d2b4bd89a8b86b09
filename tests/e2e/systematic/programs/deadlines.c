/* n threads that wait for a flag with a deadline: a wait may end by itself, also while other threads are enabled. */
#include <stdbool.h>
#include <time.h>

#include "scaling.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t raised = PTHREAD_COND_INITIALIZER;
static bool is_ready; /* guarded by lock */

static void *body(void *number)
{
	struct timespec deadline;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec++;
	pthread_mutex_lock(&lock);
	if (!number) {
		is_ready = true;
		pthread_cond_broadcast(&raised);
	} else if (!is_ready) {
		pthread_cond_timedwait(&raised, &lock, &deadline);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	run_threads(thread_count(argc, argv), body);
	return 0;
}
