/* EXPECT: passed runs=50 */
/*
 * Signals and threads: directed signals run in their thread; masks belong to each thread and are
 * inherited; sigwait and similar functions take blocked signals; raise returns after the handler.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t handled;
static pthread_t handled_by;
static sem_t ready, go;

static void note(int number)
{
	handled = number;
	handled_by = pthread_self();
	sem_post(&go); /* async-signal-safe */
}

static volatile sig_atomic_t value_received, sender_received;

static void note_information(int number, siginfo_t *information, void *context)
{
	(void)number;
	(void)context;
	value_received = information->si_value.sival_int;
	sender_received = information->si_pid == getpid();
}

static void install(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	MUST(sigemptyset(&action.sa_mask) == 0);
	MUST(sigaction(number, &action, NULL) == 0);
}

static void *wait_until_go(void *unused)
{
	(void)unused;
	sem_post(&ready);
	while (sem_wait(&go) != 0)
		continue;
	return (void *)(intptr_t)pthread_equal(handled_by, pthread_self());
}

static void check_directed(void)
{
	pthread_t thread;
	void *was_mine;

	handled = 0;
	MUST(pthread_create(&thread, NULL, wait_until_go, NULL) == 0);
	MUST(sem_wait(&ready) == 0);
	CHECK(pthread_kill(thread, 99) == EINVAL);
	CHECK(pthread_kill(thread, 0) == 0);
	CHECK(pthread_kill(thread, SIGUSR1) == 0);
	MUST(pthread_join(thread, &was_mine) == 0);
	CHECK(was_mine);
	CHECK(handled == SIGUSR1);
}

static void check_raise(void)
{
	handled = 0;
	CHECK(raise(SIGUSR1) == 0);
	CHECK(handled == SIGUSR1);
	CHECK(pthread_equal(handled_by, pthread_self()));
	MUST(sem_wait(&go) == 0);
	handled = 0;
	CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
	CHECK(handled == SIGUSR1);
	MUST(sem_wait(&go) == 0);
}

static void *report_mask(void *unused)
{
	sigset_t mask;

	(void)unused;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	return (void *)(intptr_t)(sigismember(&mask, SIGUSR1) == 1 &&
				  sigismember(&mask, SIGUSR2) == 0);
}

static void check_masks(void)
{
	sigset_t blocked, previous, pending;
	pthread_t thread;
	void *is_inherited;

	MUST(sigemptyset(&blocked) == 0 && sigaddset(&blocked, SIGUSR1) == 0);
	CHECK(pthread_sigmask(99, &blocked, NULL) == EINVAL);
	CHECK(pthread_sigmask(SIG_BLOCK, &blocked, &previous) == 0);
	CHECK(sigismember(&previous, SIGUSR1) == 0);
	MUST(pthread_create(&thread, NULL, report_mask, NULL) == 0);
	MUST(pthread_join(thread, &is_inherited) == 0);
	CHECK(is_inherited);
	handled = 0;
	CHECK(raise(SIGUSR1) == 0);
	CHECK(handled == 0);
	CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1);
	CHECK(pthread_sigmask(SIG_SETMASK, &previous, NULL) == 0);
	CHECK(handled == SIGUSR1);
	MUST(sem_wait(&go) == 0);
}

static void *take_signal(void *set)
{
	int number = 0;

	sem_post(&ready);
	if (sigwait(set, &number) != 0)
		return NULL;
	return (void *)(intptr_t)number;
}

static void check_waiting(void)
{
	struct timespec short_time = {.tv_nsec = 20000000};
	struct timespec nothing = {.tv_sec = 0};
	struct timespec soon;
	sigset_t set;
	siginfo_t information;
	pthread_t thread;
	void *taken;

	MUST(sigemptyset(&set) == 0 && sigaddset(&set, SIGUSR2) == 0);
	MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(sigtimedwait(&set, &information, &nothing) == -1 && errno == EAGAIN);
	soon = time_in(CLOCK_MONOTONIC, 20);
	CHECK(sigtimedwait(&set, NULL, &short_time) == -1 && errno == EAGAIN);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	MUST(pthread_create(&thread, NULL, take_signal, &set) == 0);
	MUST(sem_wait(&ready) == 0);
	CHECK(pthread_kill(thread, SIGUSR2) == 0);
	MUST(pthread_join(thread, &taken) == 0);
	CHECK((intptr_t)taken == SIGUSR2);
	/* A waiting thread takes a signal for the whole process. */
	MUST(pthread_create(&thread, NULL, take_signal, &set) == 0);
	CHECK(kill(getpid(), SIGUSR2) == 0);
	MUST(pthread_join(thread, &taken) == 0);
	CHECK((intptr_t)taken == SIGUSR2);
	MUST(sem_wait(&ready) == 0);
	CHECK(raise(SIGUSR2) == 0);
	CHECK(sigwaitinfo(&set, &information) == SIGUSR2);
	CHECK(information.si_signo == SIGUSR2);
	MUST(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void check_information(void)
{
	struct sigaction action = {.sa_sigaction = note_information, .sa_flags = SA_SIGINFO};
	struct sigaction found;

	MUST(sigemptyset(&action.sa_mask) == 0);
	CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
	CHECK(sigaction(SIGUSR2, NULL, &found) == 0);
	CHECK(found.sa_sigaction == note_information);
	CHECK(pthread_sigqueue(pthread_self(), SIGUSR2, (union sigval){.sival_int = 31}) == 0);
	CHECK(value_received == 31);
	CHECK(sender_received);
	CHECK(sigaction(SIGKILL, &action, NULL) == -1 && errno == EINVAL);
	CHECK(signal(SIGUSR2, SIG_IGN) != SIG_ERR);
	CHECK(raise(SIGUSR2) == 0);
}

int main(void)
{
	MUST(sem_init(&ready, 0, 0) == 0 && sem_init(&go, 0, 0) == 0);
	install(SIGUSR1, note, 0);
	check_directed();
	check_raise();
	check_masks();
	check_waiting();
	check_information();
	return check_status();
}
