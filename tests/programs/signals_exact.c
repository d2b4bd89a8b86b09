/* EXPECT: passed runs=20 */
/*
 * Rules of POSIX for signals beyond handlers and masks: alternate stacks, the order of pending signals, the
 * signals that ignoring drops, contexts, overruns of timers, and loops that wait for an action of a sleeper.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

/* sighold() and its like are there for programs that have them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define STACK_BYTES 65536

static volatile sig_atomic_t count, is_inside, is_on_stack, is_refused;
static volatile int overruns, code, is_stopping;
static char stacks[2][STACK_BYTES];

static void note(int signal)
{
	(void)signal;
	count++;
}

static void install(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	MUST(sigaction(signal, &action, NULL) == 0);
}

static void install_long(int signal, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	MUST(sigaction(signal, &action, NULL) == 0);
}

static sigset_t set_of(int first, int second)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, first);
	sigaddset(&set, second);
	return set;
}

/* ---- alternate stacks ---- */

static void look_at_stack(int signal)
{
	stack_t now, off = {.ss_flags = SS_DISABLE};
	char here;

	(void)signal;
	is_inside = 0;
	for (int i = 0; i < 2; i++)
		is_inside |= &here >= stacks[i] && &here < stacks[i] + STACK_BYTES;
	sigaltstack(NULL, &now);
	is_on_stack = now.ss_flags == SS_ONSTACK;
	is_refused = sigaltstack(&off, NULL) == -1 && errno == EPERM;
}

static void *handle_on(void *stack)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = STACK_BYTES}, now;

	CHECK(sigaltstack(&alternate, NULL) == 0);
	install(SIGUSR1, look_at_stack, SA_ONSTACK);
	CHECK(raise(SIGUSR1) == 0 && is_inside && is_on_stack && is_refused);
	install(SIGUSR1, look_at_stack, 0);
	CHECK(raise(SIGUSR1) == 0 && !is_inside && !is_on_stack && !is_refused);
	alternate.ss_flags = SS_DISABLE;
	CHECK(sigaltstack(&alternate, NULL) == 0 && sigaltstack(NULL, &now) == 0);
	CHECK(now.ss_flags == SS_DISABLE);
	return NULL;
}

static void test_stacks(void)
{
	pthread_t thread;

	(void)handle_on(stacks[0]);
	MUST(pthread_create(&thread, NULL, handle_on, stacks[1]) == 0);
	MUST(pthread_join(thread, NULL) == 0);
}

/* ---- pending signals ---- */

static void note_code(int signal, siginfo_t *information, void *context)
{
	(void)signal;
	code = information->si_code;
	sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGUSR2);
}

static void test_pending(void)
{
	sigset_t both = set_of(SIGRTMIN, SIGRTMIN + 1), pending;
	siginfo_t information;

	sigprocmask(SIG_BLOCK, &both, NULL);
	kill(getpid(), SIGRTMIN);
	raise(SIGRTMIN + 1);
	CHECK(sigwaitinfo(&both, &information) == SIGRTMIN + 1); /* the thread's own first */
	CHECK(sigwaitinfo(&both, &information) == SIGRTMIN);
	raise(SIGRTMIN);
	install(SIGRTMIN, SIG_IGN, 0);
	CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGRTMIN));
	install(SIGRTMIN, note, 0);
	count = 0;
	sigprocmask(SIG_UNBLOCK, &both, NULL);
	CHECK(count == 0);
	install_long(SIGUSR1, note_code);
	CHECK(raise(SIGUSR1) == 0 && code == SI_TKILL);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &pending) == 0 && sigismember(&pending, SIGUSR2));
	pending = set_of(SIGUSR2, SIGUSR2);
	sigprocmask(SIG_UNBLOCK, &pending, NULL);
	install(SIGTSTP, note, 0);
	CHECK(raise(SIGTSTP) == 0 && count == 1);
	CHECK(sighold(SIGTSTP) == 0 && raise(SIGTSTP) == 0 && count == 1);
	CHECK(sigrelse(SIGTSTP) == 0 && count == 2);
	CHECK(sigignore(SIGTSTP) == 0 && raise(SIGTSTP) == 0 && count == 2);
}

static void test_pipe(void)
{
	int pipes[2];

	install(SIGPIPE, note, 0);
	MUST(pipe(pipes) == 0);
	close(pipes[0]);
	count = 0;
	CHECK(write(pipes[1], "x", 1) == -1 && errno == EPIPE && count == 1);
	close(pipes[1]);
}

static void test_descriptor(void)
{
	sigset_t both = set_of(SIGUSR1, SIGRTMIN + 2);
	struct signalfd_siginfo got[2];
	int descriptor;

	sigprocmask(SIG_BLOCK, &both, NULL);
	descriptor = signalfd(-1, &both, 0);
	kill(getpid(), SIGUSR1);
	sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 8});
	CHECK(read(descriptor, got, sizeof got) == sizeof got);
	CHECK(got[0].ssi_signo == SIGUSR1 && got[0].ssi_code == SI_USER);
	CHECK((int)got[1].ssi_signo == SIGRTMIN + 2 && got[1].ssi_int == 8);
	close(descriptor);
	sigprocmask(SIG_UNBLOCK, &both, NULL);
}

/* ---- time ---- */

static timer_t timer;

static void note_overrun(int signal, siginfo_t *information, void *context)
{
	(void)signal, (void)information, (void)context;
	count++;
	overruns += timer_getoverrun(timer);
}

static void test_overrun(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3};
	struct itimerspec every = {.it_interval.tv_nsec = 10000000, .it_value.tv_nsec = 10000000};
	sigset_t mask = set_of(SIGRTMIN + 3, SIGRTMIN + 3);

	install_long(SIGRTMIN + 3, note_overrun);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	MUST(timer_settime(timer, 0, &every, NULL) == 0);
	usleep(105000);
	count = overruns = 0;
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	CHECK(count >= 1 && overruns >= 8);
	MUST(timer_delete(timer) == 0);
}

static void *yield_until_stopped(void *unused)
{
	while (!__atomic_load_n(&is_stopping, __ATOMIC_ACQUIRE))
		sched_yield();
	return unused;
}

static void *look_for_cancellation(void *unused)
{
	for (;;)
		pthread_testcancel();
	return unused;
}

static void test_loops(void)
{
	pthread_t yielding, looking;
	void *result;

	MUST(pthread_create(&yielding, NULL, yield_until_stopped, NULL) == 0);
	MUST(pthread_create(&looking, NULL, look_for_cancellation, NULL) == 0);
	usleep(20000);
	CHECK(pthread_cancel(looking) == 0);
	CHECK(pthread_join(looking, &result) == 0 && result == PTHREAD_CANCELED);
	__atomic_store_n(&is_stopping, 1, __ATOMIC_RELEASE);
	CHECK(pthread_join(yielding, NULL) == 0);
}

int main(void)
{
	test_stacks();
	test_pending();
	test_pipe();
	test_descriptor();
	test_overrun();
	test_loops();
	return check_status();
}
