/* EXPECT: passed runs=3 */
/*
 * A thread makes calls that are no scheduling points until one that sleeps, or the handler of a
 * timer, makes it stop.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

static atomic_int is_over;

static void *write_to_device(void *unused)
{
	const int device = open("/dev/null", O_WRONLY);

	MUST(device >= 0);
	while (!is_over)
		MUST(write(device, "x", 1) == 1);
	MUST(close(device) == 0);
	return unused;
}

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

static void run(int has_timer)
{
	const struct itimerval once = {.it_value.tv_usec = 10000};
	pthread_t thread;

	is_over = 0;
	if (has_timer)
		MUST(setitimer(ITIMER_REAL, &once, NULL) == 0);
	MUST(pthread_create(&thread, NULL, write_to_device, NULL) == 0);
	if (!has_timer) {
		MUST(usleep(10000) == 0);
		is_over = 1;
	}
	MUST(pthread_join(thread, NULL) == 0);
}

int main(void)
{
	MUST(signal(SIGALRM, end) != SIG_ERR);
	run(0);
	run(1);
	return check_status();
}
