/* EXPECT: passed runs=200 */
/*
 * A child process made after a thread has ended without being joined. The child's first thread gets the ended
 * thread's stack, and with it its pthread_t. A join must wait for the new thread, not find the ended one.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void *end_at_once(void *unused)
{
	return unused;
}

static void *write_after_yield(void *argument)
{
	sched_yield();
	*(int *)argument = 77;
	return NULL;
}

static void *fork_and_thread(void *unused)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		int value = 5;
		pthread_t thread;

		if (pthread_create(&thread, NULL, write_after_yield, &value) != 0 ||
			pthread_join(thread, NULL) != 0)
			_exit(1);
		_exit(value);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 77);
	return unused;
}

int main(void)
{
	pthread_t ended, forking;

	MUST(pthread_create(&ended, NULL, end_at_once, NULL) == 0);
	MUST(pthread_create(&forking, NULL, fork_and_thread, NULL) == 0);
	CHECK(pthread_join(forking, NULL) == 0);
	CHECK(pthread_join(ended, NULL) == 0);
	return check_status();
}
