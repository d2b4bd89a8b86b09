/* EXPECT: passed runs=50 */
/*
 * Loops that wait for another thread by waits that end at once, each of which lets others run: a sleep of zero
 * length, a time limit in the past, a poll of descriptors without waiting. The other thread sleeps before.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static sem_t none;
static int is_done, pipe_ends[2], sockets[2], watching;
static const struct timespec no_time, past = {.tv_sec = 1};

static void sleep_for_nothing(void)
{
	MUST(nanosleep(&no_time, NULL) == 0);
}

static void sleep_by_microseconds(void)
{
	MUST(usleep(0) == 0);
}

static void sleep_until_the_past(void)
{
	MUST(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL) == 0);
}

static void sleep_as_c11(void)
{
	MUST(thrd_sleep(&no_time, NULL) == 0);
}

static void poll_nothing(void)
{
	MUST(poll(NULL, 0, 0) == 0);
}

static void poll_a_pipe(void)
{
	struct pollfd end = {.fd = pipe_ends[0], .events = POLLIN};

	MUST(poll(&end, 1, 0) == 0);
}

static void select_nothing(void)
{
	struct timeval time = {0};

	MUST(select(0, NULL, NULL, NULL, &time) == 0);
}

static void look_for_events(void)
{
	struct epoll_event event;

	MUST(epoll_wait(watching, &event, 1, 0) == 0);
}

static void receive_nothing(void)
{
	char byte;

	MUST(recv(sockets[0], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
}

static void wait_until_the_past(void)
{
	pthread_mutex_lock(&mutex);
	MUST(pthread_cond_timedwait(&changed, &mutex, &past) == ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
}

static void wait_for_a_semaphore(void)
{
	MUST(sem_timedwait(&none, &past) < 0 && errno == ETIMEDOUT);
}

static void wait_for_a_mutex(void)
{
	MUST(pthread_mutex_timedlock(&held, &past) == ETIMEDOUT);
}

static void wait_for_a_reader(void)
{
	MUST(pthread_rwlock_timedwrlock(&shared, &past) == ETIMEDOUT);
}

static void try_a_mutex(void)
{
	MUST(pthread_mutex_trylock(&held) == EBUSY);
}

static void wait_for_a_signal(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	MUST(sigtimedwait(&signals, NULL, &no_time) < 0 && errno == EAGAIN);
}

static void (*const waits[])(void) = {sleep_for_nothing, sleep_by_microseconds,
	sleep_until_the_past, sleep_as_c11, poll_nothing, poll_a_pipe, select_nothing,
	look_for_events, receive_nothing, wait_until_the_past, wait_for_a_semaphore,
	wait_for_a_mutex, wait_for_a_reader, wait_for_a_signal, try_a_mutex};

static int look(void)
{
	int seen;

	pthread_mutex_lock(&mutex);
	seen = is_done;
	pthread_mutex_unlock(&mutex);
	return seen;
}

static void *wait_in_a_loop(void *wait)
{
	while (!look())
		(*(void (*const *)(void))wait)();
	return NULL;
}

/* Takes its time: the other one's waits let it pass. */
static void *finish(void *unused)
{
	(void)unused;
	usleep(20000);
	pthread_mutex_lock(&mutex);
	is_done = 1;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void prepare(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	MUST(pipe(pipe_ends) == 0);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	watching = epoll_create1(0);
	MUST(epoll_ctl(watching, EPOLL_CTL_ADD, pipe_ends[0], &event) == 0);
	MUST(sem_init(&none, 0, 0) == 0);
	MUST(pthread_mutex_lock(&held) == 0);
	MUST(pthread_rwlock_rdlock(&shared) == 0);
}

int main(void)
{
	prepare();
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		pthread_t waiter, finisher;

		is_done = 0;
		pthread_create(&waiter, NULL, wait_in_a_loop, (void *)&waits[i]);
		pthread_create(&finisher, NULL, finish, NULL);
		pthread_join(waiter, NULL);
		pthread_join(finisher, NULL);
		CHECK(is_done);
	}
	return check_status();
}
