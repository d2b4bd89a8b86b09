/* EXPECT: passed runs=50 */
/*
 * Where POSIX permits several results, programs rely on glibc's. A child process may also wake a
 * thread by the signal at its end, or by one that it sends: a thread that waits for this is not stuck.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static sem_t may_continue, woken;

static void check_own_mutex(int protocol, int robust, int expected)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t mutex;

	MUST(pthread_mutexattr_init(&attributes) == 0);
	MUST(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0);
	MUST(pthread_mutexattr_setprotocol(&attributes, protocol) == 0);
	MUST(pthread_mutexattr_setrobust(&attributes, robust) == 0);
	MUST(pthread_mutex_init(&mutex, &attributes) == 0);
	MUST(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_trylock(&mutex) == expected);
	CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
	MUST(pthread_mutex_unlock(&mutex) == 0);
	MUST(pthread_mutex_destroy(&mutex) == 0);
	MUST(pthread_mutexattr_destroy(&attributes) == 0);
}

static void check_invalid_time(void)
{
	struct timespec invalid = {.tv_nsec = 1000000000};

	sem_post(&may_continue);
	CHECK(sem_timedwait(&may_continue, &invalid) == -1 && errno == EINVAL);
	CHECK(sem_clockwait(&may_continue, CLOCK_MONOTONIC, &invalid) == -1 && errno == EINVAL);
	CHECK(sem_trywait(&may_continue) == 0);
}

static void *wait_and_end(void *unused)
{
	sem_wait(&may_continue);
	sem_post(&woken);
	return unused;
}

static void check_detached(void)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, wait_and_end, NULL) == 0);
	MUST(pthread_detach(thread) == 0);
	CHECK(pthread_tryjoin_np(thread, NULL) == EBUSY);
	CHECK(pthread_join(thread, NULL) == EINVAL);
	sem_post(&may_continue);
	sem_wait(&woken);
}

static void check_code_of_raise(void)
{
	struct timespec no_time = {0};
	siginfo_t information;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR2);
	CHECK(sigwaitinfo(&set, &information) == SIGUSR2 && information.si_code == SI_USER);
	pthread_kill(pthread_self(), SIGUSR2);
	CHECK(sigtimedwait(&set, &information, &no_time) == SIGUSR2 &&
		information.si_code == SI_USER);
}

static void wake(int signal)
{
	(void)signal;
	sem_post(&woken);
}

static void wait_for_wake(void)
{
	while (sem_wait(&woken))
		MUST(errno == EINTR);
}

static void check_child(void)
{
	pid_t child;
	int status;

	signal(SIGCHLD, wake);
	child = fork();
	if (!child) {
		usleep(20000);
		_exit(3);
	}
	wait_for_wake();
	CHECK(waitpid(child, &status, WNOHANG) == child && WEXITSTATUS(status) == 3);

	signal(SIGCHLD, SIG_DFL);
	signal(SIGUSR1, wake);
	child = fork();
	if (!child) {
		usleep(20000);
		kill(getppid(), SIGUSR1);
		for (;;)
			pause();
	}
	wait_for_wake();
	MUST(kill(child, SIGKILL) == 0);
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
}

int main(void)
{
	sem_init(&may_continue, 0, 0);
	sem_init(&woken, 0, 0);
	check_own_mutex(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, EBUSY);
	check_own_mutex(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, EDEADLK);
	check_own_mutex(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, EDEADLK);
	check_invalid_time();
	check_detached();
	check_code_of_raise();
	check_child();
	return check_status();
}
