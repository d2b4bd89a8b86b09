/* EXPECT: passed runs=20 */
/*
 * A handler that runs while its thread is blocked: calls answer EINTR, or continue if the handler
 * was installed with SA_RESTART. The main thread sends signals until the other one has noticed.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/select.h>
#include <unistd.h>

#include "check.h"

static sem_t never_posted, ready;
static int quiet[2];
static atomic_int handled, has_returned;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void note(int number)
{
	(void)number;
	atomic_fetch_add(&handled, 1);
}

static void install(int flags)
{
	struct sigaction action = {.sa_handler = note, .sa_flags = flags};

	MUST(sigemptyset(&action.sa_mask) == 0);
	MUST(sigaction(SIGUSR1, &action, NULL) == 0);
}

static int in_sem_wait(void)
{
	return sem_wait(&never_posted) == -1 ? errno : 0;
}

static int in_read(void)
{
	char byte;

	return read(quiet[0], &byte, 1) == -1 ? errno : 0;
}

static int in_poll(void)
{
	struct pollfd wanted = {.fd = quiet[0], .events = POLLIN};

	return poll(&wanted, 1, -1) == -1 ? errno : 0;
}

static int in_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(quiet[0], &set);
	return select(quiet[0] + 1, &set, NULL, NULL, NULL) == -1 ? errno : 0;
}

static int in_nanosleep(void)
{
	struct timespec long_time = {.tv_sec = 3600}, left = {.tv_sec = 0};
	int result = nanosleep(&long_time, &left) == -1 ? errno : 0;

	return left.tv_sec > 0 && left.tv_sec <= 3600 ? result : -1;
}

static int in_clock_nanosleep(void)
{
	struct timespec later = time_in(CLOCK_MONOTONIC, 3600000);

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &later, NULL);
}

static int in_pause(void)
{
	return pause() == -1 ? errno : 0;
}

static int in_sleep(void)
{
	return sleep(3600) > 0 ? EINTR : 0;
}

static void *call(void *blocker)
{
	int result;

	sem_post(&ready);
	result = (*(int (**)(void))blocker)();
	atomic_store(&has_returned, 1);
	return (void *)(intptr_t)result;
}

static void pause_briefly(void)
{
	struct timespec pause_time = {.tv_nsec = 1000000};

	nanosleep(&pause_time, NULL);
}

static int answer_of(int (*blocker)(void))
{
	pthread_t thread;
	void *result;

	atomic_store(&has_returned, 0);
	MUST(pthread_create(&thread, NULL, call, &blocker) == 0);
	MUST(sem_wait(&ready) == 0);
	while (!atomic_load(&has_returned)) {
		MUST(pthread_kill(thread, SIGUSR1) == 0);
		pause_briefly();
	}
	MUST(pthread_join(thread, &result) == 0);
	return (int)(intptr_t)result;
}

/* The call continues after the handler, and ends by the awaited event. */
static void check_restart(int (*blocker)(void), int by_write)
{
	pthread_t thread;
	void *result;

	atomic_store(&handled, 0);
	MUST(pthread_create(&thread, NULL, call, &blocker) == 0);
	MUST(sem_wait(&ready) == 0);
	for (int i = 0; i < 3; i++) {
		MUST(pthread_kill(thread, SIGUSR1) == 0);
		pause_briefly();
	}
	while (atomic_load(&handled) == 0)
		pause_briefly();
	if (by_write)
		MUST(write(quiet[1], "x", 1) == 1);
	else
		MUST(sem_post(&never_posted) == 0);
	MUST(pthread_join(thread, &result) == 0);
	CHECK((int)(intptr_t)result == 0);
}

static void *lock_and_return(void *unused)
{
	int result;

	(void)unused;
	sem_post(&ready);
	result = pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return (void *)(intptr_t)result;
}

/* A mutex knows no EINTR: the handler runs and the thread waits on. */
static void check_mutex(void)
{
	pthread_t thread;
	void *result;

	atomic_store(&handled, 0);
	pthread_mutex_lock(&mutex);
	MUST(pthread_create(&thread, NULL, lock_and_return, NULL) == 0);
	MUST(sem_wait(&ready) == 0);
	MUST(pthread_kill(thread, SIGUSR1) == 0);
	while (atomic_load(&handled) == 0)
		pause_briefly();
	pthread_mutex_unlock(&mutex);
	MUST(pthread_join(thread, &result) == 0);
	CHECK((int)(intptr_t)result == 0);
}

int main(void)
{
	MUST(sem_init(&never_posted, 0, 0) == 0 && sem_init(&ready, 0, 0) == 0);
	MUST(pipe(quiet) == 0);
	install(0);
	CHECK(answer_of(in_sem_wait) == EINTR);
	CHECK(answer_of(in_read) == EINTR);
	CHECK(answer_of(in_poll) == EINTR);
	CHECK(answer_of(in_select) == EINTR);
	CHECK(answer_of(in_nanosleep) == EINTR);
	CHECK(answer_of(in_clock_nanosleep) == EINTR);
	CHECK(answer_of(in_pause) == EINTR);
	CHECK(answer_of(in_sleep) == EINTR);
	check_mutex();
	install(SA_RESTART);
	CHECK(answer_of(in_poll) == EINTR);
	check_restart(in_read, 1);
	check_restart(in_sem_wait, 0);
	return check_status();
}
