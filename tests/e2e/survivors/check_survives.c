/* check_survives: a check that fails. A copy of the process, in which raddle simplifies the failure, kills the test and loops. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "raddle_check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t test;
static int turns;

static void *take_turn(void *is_second)
{
	pthread_mutex_lock(&mutex);
	if (is_second && turns == 0)
		raddle_fail("the second thread is first");
	turns++;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static int run_threads(void *unused)
{
	volatile int is_looping = getpid() != test;
	pthread_t threads[2];

	(void)unused;
	if (is_looping)
		kill(test, SIGKILL);
	while (is_looping)
		continue;
	turns = 0;
	pthread_create(&threads[0], NULL, take_turn, NULL);
	pthread_create(&threads[1], NULL, take_turn, &mutex);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}

int main(void)
{
	test = getpid();
	return raddle_check(run_threads, NULL, NULL);
}
