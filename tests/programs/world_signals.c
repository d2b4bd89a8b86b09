/* EXPECT: passed runs=50 */
/* Handlers with their masks and flags, signals to threads and to the process, interrupted calls. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t count;
static volatile sig_atomic_t last;
static pthread_t handler_thread;

static void note(int signal)
{
	count++;
	last = signal;
	handler_thread = pthread_self();
}

static void install(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	MUST(sigaction(signal, &action, NULL) == 0);
}

static sigset_t set_of(int first, int second)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, first);
	if (second)
		sigaddset(&set, second);
	return set;
}

/* ---- one thread ---- */

static void test_raise(void)
{
	struct sigaction old;

	install(SIGUSR1, note, 0);
	CHECK(raise(SIGUSR1) == 0);
	CHECK(count == 1 && last == SIGUSR1);
	CHECK(kill(getpid(), SIGUSR1) == 0);
	CHECK(count == 2);
	CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0 && count == 3);
	CHECK(kill(getpid(), 0) == 0 && count == 3);
	CHECK(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == note);
	CHECK(signal(SIGUSR1, SIG_IGN) == note);
	CHECK(raise(SIGUSR1) == 0 && count == 3);
	errno = 0;
	CHECK(signal(SIGKILL, note) == SIG_ERR && errno == EINVAL);
	errno = 0;
	CHECK(raise(99) == -1 && errno == EINVAL);
	CHECK(raise(SIGCHLD) == 0 && raise(SIGURG) == 0);
	install(SIGUSR1, note, (int)SA_RESETHAND);
	CHECK(raise(SIGUSR1) == 0 && count == 4);
	CHECK(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
}

static volatile sig_atomic_t depth;
static volatile sig_atomic_t deepest;

static void nest(int signal)
{
	if (++depth > deepest)
		deepest = depth;
	if (depth < 3)
		(void)raise(signal);
	depth--;
	count++;
}

static void raise_once(int signal)
{
	if (++depth > deepest)
		deepest = depth;
	if (!count++)
		(void)raise(signal);
	depth--;
}

static void test_nesting(void)
{
	count = deepest = 0;
	install(SIGUSR1, nest, SA_NODEFER);
	(void)raise(SIGUSR1);
	CHECK(count == 3 && deepest == 3);
	/* Held back until the first has returned. */
	count = deepest = 0;
	install(SIGUSR1, raise_once, 0);
	(void)raise(SIGUSR1);
	CHECK(count == 2 && deepest == 1);
}

static void test_masks(void)
{
	sigset_t set = set_of(SIGUSR1, SIGUSR2);
	sigset_t old;
	sigset_t pending;

	install(SIGUSR1, note, 0);
	install(SIGUSR2, note, 0);
	count = 0;
	CHECK(pthread_sigmask(SIG_BLOCK, &set, &old) == 0 && !sigismember(&old, SIGUSR1));
	(void)raise(SIGUSR1);
	(void)raise(SIGUSR1);
	(void)kill(getpid(), SIGUSR2);
	CHECK(count == 0);
	CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) &&
		sigismember(&pending, SIGUSR2) && !sigismember(&pending, SIGTERM));
	CHECK(sigprocmask(SIG_SETMASK, &old, &set) == 0 && sigismember(&set, SIGUSR2));
	CHECK(count == 2); /* standard signals do not queue */
	CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGUSR1));
	CHECK(pthread_sigmask(42, &set, NULL) == EINVAL);
}

static volatile sig_atomic_t mask_was_right;

static void look_at_mask(int signal)
{
	sigset_t now;

	(void)pthread_sigmask(SIG_BLOCK, NULL, &now);
	mask_was_right = sigismember(&now, signal) && sigismember(&now, SIGUSR2) &&
			 !sigismember(&now, SIGTERM);
}

static void test_handler_mask(void)
{
	struct sigaction action = {.sa_handler = look_at_mask};
	sigset_t now;

	sigaddset(&action.sa_mask, SIGUSR2);
	MUST(sigaction(SIGUSR1, &action, NULL) == 0);
	(void)raise(SIGUSR1);
	CHECK(mask_was_right);
	MUST(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
	CHECK(!sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2));
}

/* ---- values and queues ---- */

static int values[8];
static volatile sig_atomic_t value_count;
static int sender_is_us;

static void note_value(int signal, siginfo_t *information, void *context)
{
	(void)signal;
	values[value_count++] = information->si_value.sival_int;
	sender_is_us = information->si_pid == getpid() && information->si_code == SI_QUEUE &&
		       context != NULL;
}

static void test_values(void)
{
	struct sigaction action = {.sa_sigaction = note_value, .sa_flags = SA_SIGINFO};
	sigset_t set = set_of(SIGRTMIN + 1, 0);
	siginfo_t information;
	struct timespec none = {0};

	MUST(sigaction(SIGRTMIN + 1, &action, NULL) == 0);
	MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 10 + i}) == 0);
	CHECK(sigwaitinfo(&set, &information) == SIGRTMIN + 1);
	CHECK(information.si_value.sival_int == 10);
	MUST(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
	CHECK(value_count == 2 && values[0] == 11 && values[1] == 12);
	CHECK(sender_is_us);
	errno = 0;
	CHECK(sigtimedwait(&set, &information, &none) == -1 && errno == EAGAIN);
}

/* ---- waiting for signals in threads ---- */

static void *wait_for_two(void *unused)
{
	sigset_t set = set_of(SIGUSR1, SIGTERM);
	int first = 0;
	int second = 0;

	(void)unused;
	MUST(sigwait(&set, &first) == 0);
	MUST(sigwait(&set, &second) == 0);
	return (void *)(long)(first * 100 + second);
}

static void test_sigwait(void)
{
	sigset_t set = set_of(SIGUSR1, SIGTERM);
	sigset_t now;
	siginfo_t information;
	struct timespec limit = {.tv_nsec = 20000000};
	pthread_t waiter;
	void *result;

	MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	MUST(pthread_create(&waiter, NULL, wait_for_two, NULL) == 0);
	CHECK(kill(getpid(), SIGTERM) == 0);
	while (sigpending(&now) == 0 && sigismember(&now, SIGTERM))
		sched_yield();
	CHECK(pthread_kill(waiter, SIGUSR1) == 0);
	MUST(pthread_join(waiter, &result) == 0);
	CHECK((long)result == SIGTERM * 100 + SIGUSR1);
	errno = 0;
	CHECK(sigtimedwait(&set, &information, &limit) == -1 && errno == EAGAIN);
	MUST(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

/* ---- interrupted calls ---- */

static int ends[2];

static void *read_byte(void *error)
{
	char byte;

	*(int *)error = read(ends[0], &byte, 1) == 1 ? 0 : errno;
	return NULL;
}

/* The reader may not have reached its read yet: signals are sent until one has interrupted it. */
static void interrupt_reader(int flags, int *error)
{
	pthread_t reader;

	install(SIGUSR1, note, flags);
	MUST(pipe(ends) == 0);
	count = 0;
	MUST(pthread_create(&reader, NULL, read_byte, error) == 0);
	if (flags & SA_RESTART) {
		usleep(5000);
		MUST(pthread_kill(reader, SIGUSR1) == 0);
		usleep(5000);
		MUST(write(ends[1], "x", 1) == 1);
	} else {
		for (int i = 0; i < 1000 && *error < 0; i++) {
			usleep(2000);
			(void)pthread_kill(reader, SIGUSR1);
		}
	}
	MUST(pthread_join(reader, NULL) == 0);
	close(ends[0]);
	close(ends[1]);
}

static void test_interrupted_read(void)
{
	int error = -1;

	interrupt_reader(0, &error);
	CHECK(error == EINTR);
	error = -1;
	interrupt_reader(SA_RESTART, &error);
	CHECK(error == 0);
	CHECK(count == 1);
}

static volatile sig_atomic_t is_over;

static void *sleep_long(void *left)
{
	struct timespec request = {.tv_sec = 1000};

	if (nanosleep(&request, left) == -1 && errno == EINTR)
		is_over = 1;
	return NULL;
}

static void test_interrupted_sleep(void)
{
	struct timespec left = {0};
	pthread_t sleeper;

	install(SIGUSR1, note, SA_RESTART);
	MUST(pthread_create(&sleeper, NULL, sleep_long, &left) == 0);
	for (int i = 0; i < 1000 && !is_over; i++) {
		(void)pthread_kill(sleeper, SIGUSR1);
		usleep(1000);
	}
	MUST(pthread_join(sleeper, NULL) == 0);
	CHECK(is_over && left.tv_sec >= 900 && left.tv_sec <= 1000);
	CHECK(pthread_equal(handler_thread, sleeper));
}

/* A handler runs in a thread that waits for a lock, and the lock is still waited for. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *take_lock(void *result)
{
	*(int *)result = pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void test_handler_beside_lock(void)
{
	pthread_t locker;
	int result = -1;

	MUST(pthread_mutex_lock(&lock) == 0);
	count = 0;
	MUST(pthread_create(&locker, NULL, take_lock, &result) == 0);
	MUST(pthread_kill(locker, SIGUSR1) == 0);
	while (!count)
		usleep(1000);
	CHECK(pthread_equal(handler_thread, locker) && result == -1);
	MUST(pthread_mutex_unlock(&lock) == 0);
	MUST(pthread_join(locker, NULL) == 0);
	CHECK(result == 0);
}

/* ---- suspending ---- */

static void test_suspend(void)
{
	sigset_t set = set_of(SIGUSR1, 0);
	sigset_t open;

	MUST(pthread_sigmask(SIG_BLOCK, &set, &open) == 0);
	count = 0;
	(void)raise(SIGUSR1);
	errno = 0;
	CHECK(sigsuspend(&open) == -1 && errno == EINTR);
	CHECK(count == 1);
	MUST(pthread_sigmask(SIG_SETMASK, &open, NULL) == 0);
}

/* ---- faults ---- */

static sigjmp_buf jump;

static void leap(int signal)
{
	siglongjmp(jump, signal);
}

static void *fault(void *unused)
{
	volatile int *volatile nowhere = NULL;

	(void)unused;
	if (sigsetjmp(jump, 1) == 0)
		*nowhere = 1;
	else
		count++;
	if (sigsetjmp(jump, 1) == 0)
		(void)raise(SIGFPE);
	else
		count++;
	return NULL;
}

static void test_faults(void)
{
	pthread_t thread;
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	stack_t old;

	install(SIGSEGV, leap, SA_ONSTACK);
	install(SIGFPE, leap, 0);
	CHECK(sigaltstack(&stack, NULL) == 0);
	count = 0;
	(void)fault(NULL);
	CHECK(count == 2);
	MUST(pthread_create(&thread, NULL, fault, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(count == 4);
	CHECK(sigaltstack(NULL, &old) == 0 && old.ss_sp == stack.ss_sp && old.ss_flags == 0);
	stack.ss_flags = SS_DISABLE;
	CHECK(sigaltstack(&stack, NULL) == 0);
	free(stack.ss_sp);
	stack = (stack_t){.ss_size = 1};
	errno = 0;
	CHECK(sigaltstack(&stack, NULL) == -1 && errno == ENOMEM);
}

static void test_pipe_signal(void)
{
	install(SIGPIPE, note, 0);
	MUST(pipe(ends) == 0);
	close(ends[0]);
	count = 0;
	errno = 0;
	CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE);
	CHECK(count == 1 && last == SIGPIPE);
	close(ends[1]);
}

int main(void)
{
	test_raise();
	test_nesting();
	test_masks();
	test_handler_mask();
	test_values();
	test_sigwait();
	test_interrupted_read();
	test_interrupted_sleep();
	test_handler_beside_lock();
	test_suspend();
	test_faults();
	test_pipe_signal();
	return check_status();
}
