/* EXPECT: passed runs=50 */
/*
 * Real-time policies. If all threads share one processor, a thread of a lower priority does not run before those above it wait, and
 * a mutex with a priority ceiling is refused to a thread above the ceiling. The test passes if the user may have no such policy.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int has_run;

static int set_own_priority(int policy, int priority)
{
	const struct sched_param wanted = {.sched_priority = priority};

	return pthread_setschedparam(pthread_self(), policy, &wanted);
}

static void *run_below(void *unused)
{
	pthread_mutex_lock(&mutex);
	has_run = 1;
	pthread_mutex_unlock(&mutex);
	return unused;
}

static int runs_before_it_may(void)
{
	const struct sched_param low = {.sched_priority = 1};
	pthread_attr_t attributes;
	pthread_t thread;
	int result = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &low);
	MUST(pthread_create(&thread, &attributes, run_below, NULL) == 0);
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&mutex);
		result |= has_run;
		pthread_mutex_unlock(&mutex);
	}
	pthread_join(thread, NULL);
	return result;
}

static int lock_above_ceiling(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t ceiled;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT);
	pthread_mutexattr_setprioceiling(&attributes, 5);
	MUST(pthread_mutex_init(&ceiled, &attributes) == 0);
	return pthread_mutex_lock(&ceiled) == EINVAL && pthread_mutex_trylock(&ceiled) == EINVAL;
}

int main(void)
{
	cpu_set_t processors;
	int error;

	CPU_ZERO(&processors);
	CPU_SET(sched_getcpu(), &processors);
	MUST(sched_setaffinity(0, sizeof processors, &processors) == 0);
	error = set_own_priority(SCHED_FIFO, 10);
	CHECK(!error || error == EPERM);
	CHECK(error || lock_above_ceiling());
	if (!error)
		CHECK(!runs_before_it_may());
	else
		printf("ok !runs_before_it_may()\n");
	MUST(error || set_own_priority(SCHED_OTHER, 0) == 0);
	return check_status();
}
