/* EXPECT: passed runs=10 */
/*
 * A handler, time, or the parent ends the waits of a forked child, like waits of the parent. The clocks of child and
 * parent agree. The child's threads sleep and are awaited. The child opens the semaphore that its parent opens by name.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define LONG_SECONDS 1000 /* the tests never wait for its end */

static pid_t parent_id;
static int empty[2];
static sem_t none;
static mqd_t queue;

static void note(int signal)
{
	(void)signal;
}

/* ---- interrupted waits: each -1 with EINTR ---- */

static int wait_nanosleep(void)
{
	struct timespec time = {.tv_sec = LONG_SECONDS};

	return nanosleep(&time, NULL);
}

static int wait_sleep(void)
{
	if (sleep(LONG_SECONDS) == 0)
		return 0;
	errno = EINTR;
	return -1;
}

static int wait_poll(void)
{
	return poll(NULL, 0, LONG_SECONDS * 1000);
}

static int wait_select(void)
{
	struct timeval time = {.tv_sec = LONG_SECONDS};

	return select(0, NULL, NULL, NULL, &time);
}

static int wait_read(void)
{
	char byte;

	return (int)read(empty[0], &byte, 1);
}

static int wait_semaphore(void)
{
	return sem_wait(&none);
}

static int wait_semaphore_timed(void)
{
	struct timespec time = time_in(CLOCK_REALTIME, LONG_SECONDS * 1000L);

	return sem_timedwait(&none, &time);
}

/* A queue of the parent's, from before the fork. */
static int wait_queue(void)
{
	char message[8];

	return (int)mq_receive(queue, message, sizeof message, NULL);
}

static int wait_queue_timed(void)
{
	struct timespec time = time_in(CLOCK_REALTIME, LONG_SECONDS * 1000L);
	char message[8];

	return (int)mq_timedreceive(queue, message, sizeof message, NULL, &time);
}

static int wait_signal(void)
{
	sigset_t set;
	struct timespec time = {.tv_sec = LONG_SECONDS};

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &time);
}

static int wait_child(void)
{
	pid_t child = fork();
	int result;

	if (child == 0)
		for (;;)
			pause();
	result = waitpid(child, NULL, 0);
	kill(child, SIGKILL);
	return result;
}

static int child_main(int (*wait_for)(void))
{
	struct sigaction action = {.sa_handler = note};

	sigaction(SIGUSR1, &action, NULL);
	errno = 0;
	return wait_for() == -1 && errno == EINTR ? 0 : 3;
}

static int status_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Signals may arrive before the child waits: they are therefore sent until it has ended. */
static int interrupt(int (*wait_for)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(child_main(wait_for));
	usleep(100000); /* natively it has a handler by then; else it dies of the first */
	while (waitpid(child, &status, WNOHANG) == 0) {
		kill(child, SIGUSR1);
		usleep(10000);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void check_interruptions(void)
{
	CHECK(interrupt(pause) == 0);
	CHECK(interrupt(wait_nanosleep) == 0);
	CHECK(interrupt(wait_sleep) == 0);
	CHECK(interrupt(wait_poll) == 0);
	CHECK(interrupt(wait_select) == 0);
	CHECK(interrupt(wait_read) == 0);
	CHECK(interrupt(wait_semaphore) == 0);
	CHECK(interrupt(wait_semaphore_timed) == 0);
	CHECK(interrupt(wait_queue) == 0);
	CHECK(interrupt(wait_queue_timed) == 0);
	CHECK(interrupt(wait_signal) == 0);
	CHECK(interrupt(wait_child) == 0);
}

/* ---- time ---- */

static double seconds_now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void check_clocks(void)
{
	double before = seconds_now(CLOCK_MONOTONIC);
	pid_t child = fork();

	if (child == 0) {
		double own = seconds_now(CLOCK_MONOTONIC);

		usleep(300000);
		_exit(seconds_now(CLOCK_MONOTONIC) - own >= 0.3 ? 0 : 1);
	}
	CHECK(status_of(child) == 0);
	CHECK(seconds_now(CLOCK_MONOTONIC) - before >= 0.3);
	while (seconds_now(CLOCK_PROCESS_CPUTIME_ID) < 0.2)
		continue;
	child = fork();
	if (child == 0)
		_exit(seconds_now(CLOCK_PROCESS_CPUTIME_ID) < 0.1 &&
					seconds_now(CLOCK_THREAD_CPUTIME_ID) < 0.1
				? 0
				: 1);
	CHECK(status_of(child) == 0);
}

static int receive_until(void)
{
	struct timespec end;
	char message[8];

	end = time_in(CLOCK_REALTIME, 200);
	if (mq_timedreceive(queue, message, sizeof message, NULL, &end) != -1 || errno != ETIMEDOUT)
		return 1;
	return is_reached(CLOCK_REALTIME, &end) ? 0 : 2;
}

/* ---- threads of a child ---- */

static void *sleep_and_write(void *end)
{
	usleep(50000);
	return write(*(int *)end, "x", 1) == 1 ? end : NULL;
}

static int await_sleeper(void)
{
	int ends[2];
	pthread_t thread;
	char byte;

	if (pipe(ends) || pthread_create(&thread, NULL, sleep_and_write, &ends[1]) ||
		read(ends[0], &byte, 1) != 1)
		return 1;
	return pthread_join(thread, NULL) ? 2 : 0;
}

static int block_all_signals(void)
{
	sigset_t all;
	pthread_t thread;
	int ends[2];

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	if (pipe(ends) || pthread_create(&thread, NULL, sleep_and_write, &ends[1]) ||
		pthread_join(thread, NULL))
		return 1;
	return 0;
}

/* ---- objects that parent and child share ---- */

static void check_named_semaphore(void)
{
	char name[40];
	struct timespec limit;
	pid_t child;
	sem_t *semaphore;

	snprintf(name, sizeof name, "/raddle-child-%d", (int)getpid());
	child = fork();
	semaphore = sem_open(name, O_CREAT, 0600, 0);
	MUST(semaphore != SEM_FAILED);
	if (child == 0) {
		usleep(100000);
		_exit(sem_post(semaphore) ? 1 : 0);
	}
	limit = time_in(CLOCK_REALTIME, LONG_SECONDS * 1000L);
	CHECK(sem_timedwait(semaphore, &limit) == 0);
	CHECK(status_of(child) == 0);
	sem_unlink(name);
}

static int check_parent(void)
{
	return getppid() == parent_id ? 0 : 1;
}

static int run_in_child(int (*function)(void))
{
	pid_t child = fork();

	if (child == 0)
		_exit(function());
	return status_of(child);
}

static void *check_all(void *unused)
{
	CHECK(getpid() == parent_id);
	CHECK(run_in_child(check_parent) == 0);
	check_interruptions();
	check_clocks();
	CHECK(run_in_child(receive_until) == 0);
	CHECK(run_in_child(await_sleeper) == 0);
	CHECK(run_in_child(block_all_signals) == 0);
	check_named_semaphore();
	return unused;
}

int main(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char queue_name[40];
	pthread_t thread;

	parent_id =
		getpid(); /* before the first thread: where runs are forked behind it, they have another */
	snprintf(queue_name, sizeof queue_name, "/raddle-child-%d", (int)parent_id);
	queue = mq_open(queue_name, O_CREAT | O_RDWR, 0600, &attributes);
	MUST(queue != (mqd_t)-1 && mq_unlink(queue_name) == 0);
	MUST(pipe(empty) == 0 && sem_init(&none, 0, 0) == 0);
	MUST(pthread_create(&thread, NULL, check_all, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	return check_status();
}
