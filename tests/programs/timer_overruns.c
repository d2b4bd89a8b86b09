/* EXPECT: passed runs=3 */
/*
 * Timers with an interval far too short for any thread to notice each expiration: expirations that
 * are not seen are counted, and not waited for one by one.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	(void)signal;
	handled++;
}

static timer_t make_timer(int signal, long interval_ns)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal};
	const struct itimerspec setting = {
		.it_value = {.tv_nsec = 1000000}, .it_interval = {.tv_nsec = interval_ns}};
	timer_t timer;

	MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	MUST(timer_settime(timer, 0, &setting, NULL) == 0);
	return timer;
}

static void sleep_for(time_t seconds)
{
	struct timespec left = {.tv_sec = seconds};

	while (nanosleep(&left, &left) != 0)
		MUST(errno == EINTR);
}

/* The signal is blocked: one notification stands for all expirations. */
static void count_blocked(long interval_ns)
{
	timer_t timer = make_timer(SIGUSR1, interval_ns);
	siginfo_t information;
	sigset_t set;
	long expected = 1000000000 / interval_ns;

	MUST(sigemptyset(&set) == 0 && sigaddset(&set, SIGUSR1) == 0);
	sleep_for(2);
	MUST(sigwaitinfo(&set, &information) == SIGUSR1);
	CHECK(information.si_code == SI_TIMER);
	CHECK(information.si_overrun >= (expected < INT_MAX ? expected : INT_MAX));
	CHECK(timer_getoverrun(timer) == information.si_overrun);
	MUST(timer_delete(timer) == 0);
	(void)sigtimedwait(&set, NULL, &(struct timespec){0}); /* takes a late expiration */
}

/* A handler runs meanwhile, but not for each. */
static void count_handled(void)
{
	timer_t timer = make_timer(SIGUSR2, 20000);

	sleep_for(1);
	MUST(timer_delete(timer) == 0);
	CHECK(handled > 0);
}

static void count_read(void)
{
	const struct itimerspec setting = {
		.it_value = {.tv_nsec = 1000000}, .it_interval = {.tv_nsec = 1000}};
	const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t expirations;

	MUST(timer >= 0);
	MUST(timerfd_settime(timer, 0, &setting, NULL) == 0);
	sleep_for(2);
	MUST(read(timer, &expirations, sizeof expirations) == sizeof expirations);
	CHECK(expirations >= 1000000);
	MUST(close(timer) == 0);
}

static void *run(void *unused)
{
	count_blocked(1000000);
	count_blocked(1000);
	count_blocked(2);
	count_handled();
	count_read();
	return unused;
}

int main(void)
{
	struct sigaction action = {.sa_handler = handle};
	pthread_t thread;
	sigset_t set;

	MUST(sigemptyset(&set) == 0 && sigaddset(&set, SIGUSR1) == 0);
	MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	MUST(sigaction(SIGUSR2, &action, NULL) == 0);
	MUST(pthread_create(&thread, NULL, run, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	return check_status();
}
