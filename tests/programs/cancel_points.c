/* EXPECT: passed runs=50 */
/*
 * Functions that block and are cancellation points: a thread in each of them is cancelled, whether it
 * has got there yet or not. pthread_mutex_lock is none.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int pipe_without_errors[2], pair_without_errors[2], listener;
static sem_t never_posted;
static pthread_t never_ends;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void in_sem_wait(void)
{
	sem_wait(&never_posted);
}

static void in_sem_timedwait(void)
{
	struct timespec later = time_in(CLOCK_REALTIME, 3600000);

	sem_timedwait(&never_posted, &later);
}

static void in_read(void)
{
	char byte;

	MUST(read(pipe_without_errors[0], &byte, 1) != 1);
}

static void in_recv(void)
{
	char byte;

	recv(pair_without_errors[0], &byte, 1, 0);
}

static void in_accept(void)
{
	accept(listener, NULL, NULL);
}

static void in_poll(void)
{
	struct pollfd wanted = {.fd = pipe_without_errors[0], .events = POLLIN};

	poll(&wanted, 1, -1);
}

static void in_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipe_without_errors[0], &set);
	select(pipe_without_errors[0] + 1, &set, NULL, NULL, NULL);
}

static void in_nanosleep(void)
{
	struct timespec long_time = {.tv_sec = 3600};

	nanosleep(&long_time, NULL);
}

static void in_clock_nanosleep(void)
{
	struct timespec later = time_in(CLOCK_MONOTONIC, 3600000);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &later, NULL);
}

static void in_sleep(void)
{
	sleep(3600);
}

static void in_usleep(void)
{
	for (;;)
		usleep(999999);
}

static void in_pause(void)
{
	pause();
}

static void in_join(void)
{
	pthread_join(never_ends, NULL);
}

static void in_sigwait(void)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigwait(&set, &number);
}

static void *enter(void *blocker)
{
	(*(void (**)(void))blocker)();
	return NULL;
}

static void *result_of_cancelling_in(void (*blocker)(void))
{
	pthread_t thread;
	void *result;

	MUST(pthread_create(&thread, NULL, enter, &blocker) == 0);
	MUST(pthread_cancel(thread) == 0);
	MUST(pthread_join(thread, &result) == 0);
	return result;
}

static void *lock_and_return(void *unused)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return unused;
}

static void check_mutex(void)
{
	pthread_t thread;
	void *result;

	pthread_mutex_lock(&held);
	MUST(pthread_create(&thread, NULL, lock_and_return, NULL) == 0);
	MUST(pthread_cancel(thread) == 0);
	pthread_mutex_unlock(&held);
	MUST(pthread_join(thread, &result) == 0);
	CHECK(result == NULL);
}

static void check_join_is_undone(void)
{
	void (*blocker)(void) = in_sem_wait;
	void *result;

	MUST(pthread_create(&never_ends, NULL, enter, &blocker) == 0);
	CHECK(result_of_cancelling_in(in_join) == PTHREAD_CANCELED);
	MUST(pthread_cancel(never_ends) == 0);
	CHECK(pthread_join(never_ends, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
}

int main(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	MUST(sem_init(&never_posted, 0, 0) == 0);
	MUST(pipe(pipe_without_errors) == 0);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair_without_errors) == 0);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	/* An empty name: the kernel finds an abstract one. */
	MUST(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)) == 0);
	MUST(listen(listener, 1) == 0);

	CHECK(result_of_cancelling_in(in_sem_wait) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_sem_timedwait) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_read) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_recv) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_accept) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_poll) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_select) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_nanosleep) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_clock_nanosleep) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_sleep) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_usleep) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_pause) == PTHREAD_CANCELED);
	CHECK(result_of_cancelling_in(in_sigwait) == PTHREAD_CANCELED);
	check_join_is_undone();
	check_mutex();
	return check_status();
}
