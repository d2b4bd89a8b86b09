/* EXPECT: passed runs=50 */
/* alarm and setitimer: once, repeated, read back, cancelled; pause, and loops that wait for a handler. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void test_alone(void)
{
	struct timespec limit = time_in(CLOCK_MONOTONIC, 1000);
	struct itimerval once = {.it_value.tv_usec = 30000};

	CHECK(alarm(1) == 0);
	CHECK(pause() == -1 && errno == EINTR);
	CHECK(alarms == 1);
	CHECK(is_reached(CLOCK_MONOTONIC, &limit));
	CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
	CHECK(sleep(5) == 4);
	CHECK(alarms == 2);
}

static void test_reading(void)
{
	struct itimerval wanted = {.it_value.tv_sec = 100, .it_interval.tv_sec = 7};
	struct itimerval old;

	CHECK(setitimer(ITIMER_REAL, &wanted, NULL) == 0);
	CHECK(getitimer(ITIMER_REAL, &old) == 0);
	CHECK(old.it_interval.tv_sec == 7 && old.it_value.tv_sec >= 98);
	CHECK(alarm(0) >= 99);
	CHECK(getitimer(ITIMER_REAL, &old) == 0 && old.it_value.tv_sec == 0 &&
		old.it_value.tv_usec == 0);
	wanted.it_value.tv_usec = 1000000;
	errno = 0;
	CHECK(setitimer(ITIMER_REAL, &wanted, NULL) == -1 && errno == EINVAL);
}

static int ends[2];

static void *wait_in_read(void *error)
{
	char byte;

	errno = 0;
	*(int *)error = read(ends[0], &byte, 1) == -1 ? errno : 0;
	return NULL;
}

/* The only thread that lets the signal through waits in a read. */
static void test_threads(void)
{
	struct itimerval often = {.it_value.tv_usec = 20000, .it_interval.tv_usec = 20000};
	struct itimerval never = {0};
	sigset_t set;
	pthread_t reader;
	int error = -1;

	alarms = 0;
	MUST(pipe(ends) == 0);
	MUST(pthread_create(&reader, NULL, wait_in_read, &error) == 0);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	MUST(setitimer(ITIMER_REAL, &often, NULL) == 0);
	MUST(pthread_join(reader, NULL) == 0);
	CHECK(error == EINTR);
	MUST(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
	while (alarms < 5)
		usleep(1000);
	MUST(setitimer(ITIMER_REAL, &never, NULL) == 0);
	CHECK(alarms >= 5);
}

/* ---- timers of POSIX ---- */

static volatile sig_atomic_t ticks;
static volatile sig_atomic_t tick_value;

static void on_tick(int signal, siginfo_t *information, void *context)
{
	(void)signal;
	(void)context;
	ticks++;
	tick_value = information->si_code == SI_TIMER ? information->si_value.sival_int : -1;
}

static void test_signal_timer(void)
{
	struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 77};
	struct itimerspec wanted = {.it_value.tv_nsec = 5000000, .it_interval.tv_nsec = 5000000};
	struct itimerspec left;
	timer_t timer;

	MUST(sigaction(SIGRTMIN, &action, NULL) == 0);
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	CHECK(timer_settime(timer, 0, &wanted, NULL) == 0);
	while (ticks < 3)
		pause();
	CHECK(tick_value == 77);
	CHECK(timer_gettime(timer, &left) == 0 && left.it_interval.tv_nsec == 5000000);
	CHECK(timer_getoverrun(timer) >= 0);
	CHECK(timer_delete(timer) == 0);
	errno = 0;
	CHECK(timer_create((clockid_t)1234, &event, &timer) == -1 && errno == EINVAL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static int calls;

static void on_call(union sigval value)
{
	pthread_mutex_lock(&lock);
	calls += value.sival_int;
	pthread_cond_signal(&called);
	pthread_mutex_unlock(&lock);
}

static void test_thread_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD,
		.sigev_notify_function = on_call,
		.sigev_value.sival_int = 5};
	struct itimerspec wanted = {.it_value = time_in(CLOCK_MONOTONIC, 10)};
	timer_t timer;

	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	CHECK(timer_settime(timer, TIMER_ABSTIME, &wanted, NULL) == 0);
	pthread_mutex_lock(&lock);
	while (!calls)
		pthread_cond_wait(&called, &lock);
	pthread_mutex_unlock(&lock);
	CHECK(is_reached(CLOCK_MONOTONIC, &wanted.it_value));
	CHECK(calls == 5);
	CHECK(timer_delete(timer) == 0);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_alarm};

	MUST(sigaction(SIGALRM, &action, NULL) == 0);
	test_alone();
	test_reading();
	test_threads();
	test_signal_timer();
	test_thread_timer();
	return check_status();
}
