/* EXPECT: passed runs=20 */
/*
 * Rules of signals at their edges: masks and jumps before threads exist, many signals in the queue, alternate stacks
 * with odd flags, receivers that end or block the signal, queues that handlers interrupt, threads that notify.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define MANY 1000

static sigset_t set_of(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	if (signal)
		sigaddset(&set, signal);
	return set;
}

static int is_blocked(int signal)
{
	sigset_t now;

	MUST(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
	return sigismember(&now, signal);
}

/* ---- jumps ---- */

static void *jump_with_masks(void *results)
{
	int *right = results;
	sigset_t first = set_of(SIGUSR1);
	sigjmp_buf saved, plain;

	memset(&plain, -1, sizeof plain);
	if (sigsetjmp(saved, 1) == 0) {
		MUST(pthread_sigmask(SIG_BLOCK, &first, NULL) == 0);
		siglongjmp(saved, 1);
	}
	*right += !is_blocked(SIGUSR1);
	if (sigsetjmp(plain, 0) == 0) {
		MUST(pthread_sigmask(SIG_BLOCK, &first, NULL) == 0);
		siglongjmp(plain, 1);
	}
	*right += is_blocked(SIGUSR1);
	MUST(pthread_sigmask(SIG_UNBLOCK, &first, NULL) == 0);
	return NULL;
}

static volatile sig_atomic_t delivered;

static void note(int signal)
{
	(void)signal;
	delivered++;
}

static void install(int signal, int flags)
{
	struct sigaction action = {.sa_handler = note, .sa_flags = flags};

	MUST(sigaction(signal, &action, NULL) == 0);
}

/* The mask is restored before the jump has ended, and the pending signals are delivered. */
static void check_pending_jump(void)
{
	sigset_t set = set_of(SIGUSR2);
	sigjmp_buf place;

	install(SIGUSR2, 0);
	delivered = 0;
	if (sigsetjmp(place, 1) == 0) {
		MUST(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && raise(SIGUSR2) == 0);
		CHECK(delivered == 0);
		siglongjmp(place, 1);
	}
	CHECK(delivered == 1);
}

/* ---- many, and odd stacks ---- */

static void check_many(void)
{
	sigset_t set = set_of(SIGRTMIN);
	struct timespec none = {0};
	int sent = 0, taken = 0;

	MUST(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	while (sent < MANY && sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = sent}) == 0)
		sent++;
	while (sigtimedwait(&set, NULL, &none) == SIGRTMIN)
		taken++;
	CHECK(sent == MANY && taken == MANY);
	MUST(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void check_stacks(void)
{
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536}, old;

	stack.ss_flags = SS_DISABLE + 1;
	errno = 0;
	CHECK(sigaltstack(&stack, NULL) == -1 && errno == EINVAL);
	stack.ss_flags = 1 << 20;
	errno = 0;
	CHECK(sigaltstack(&stack, NULL) == -1 && errno == EINVAL);
	stack.ss_flags = SS_ONSTACK;
	CHECK(sigaltstack(&stack, NULL) == 0);
	CHECK(sigaltstack(NULL, &old) == 0 && old.ss_flags == 0 && old.ss_sp == stack.ss_sp);
	stack.ss_flags = SS_DISABLE;
	CHECK(sigaltstack(&stack, NULL) == 0);
	CHECK(sigaltstack(NULL, &old) == 0 && old.ss_flags == SS_DISABLE);
	free(stack.ss_sp);
}

/* ---- receivers that do not take what they were chosen for ---- */

static atomic_int ready_count, may_end;

static void *end_soon(void *blocks)
{
	sigset_t set = set_of(SIGUSR1);

	ready_count++;
	while (!may_end)
		sched_yield();
	if (blocks)
		MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	return NULL;
}

/* The process gets a signal while threads end or block it: a thread's handler runs. */
static void check_receivers(void)
{
	pthread_t threads[3];

	install(SIGUSR1, 0);
	for (int round = 0; round < 4; round++) {
		delivered = ready_count = may_end = 0;
		for (long i = 0; i < 3; i++)
			MUST(pthread_create(&threads[i], NULL, end_soon, (void *)(i & 1)) == 0);
		while (ready_count < 3)
			sched_yield();
		may_end = 1;
		MUST(kill(getpid(), SIGUSR1) == 0);
		for (int i = 0; i < 3; i++)
			MUST(pthread_join(threads[i], NULL) == 0);
		for (int i = 0; !delivered && i < 1000; i++)
			usleep(1000);
		CHECK(delivered == 1);
	}
}

/* ---- queues ---- */

static atomic_int is_over;
static pthread_t receiver;

static mqd_t make_queue(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char name[64];
	mqd_t queue;

	(void)snprintf(name, sizeof name, "/signal_rules_%d", (int)getpid());
	queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
	MUST(queue >= 0 && mq_unlink(name) == 0);
	return queue;
}

static void *interrupt_receiver(void *unused)
{
	(void)unused;
	while (!is_over) {
		usleep(2000);
		MUST(pthread_kill(receiver, SIGUSR1) == 0);
	}
	return NULL;
}

static void check_interrupted_queue(void)
{
	mqd_t queue = make_queue();
	struct timespec late = time_in(CLOCK_REALTIME, 20000);
	pthread_t sender;
	char text[8];
	long first, second;
	int error;

	install(SIGUSR1, 0);
	receiver = pthread_self();
	MUST(pthread_create(&sender, NULL, interrupt_receiver, NULL) == 0);
	first = mq_receive(queue, text, sizeof text, NULL);
	error = errno;
	second = mq_timedreceive(queue, text, sizeof text, NULL, &late);
	CHECK(first == -1 && error == EINTR);
	CHECK(second == -1 && errno == EINTR);
	is_over = 1;
	MUST(pthread_join(sender, NULL) == 0);
	MUST(mq_close(queue) == 0);
}

static mqd_t notified;
static atomic_int notifications;
static size_t guard_bytes;
static sem_t reported;

static void send_back(union sigval value)
{
	pthread_attr_t attributes;

	MUST(pthread_getattr_np(pthread_self(), &attributes) == 0);
	MUST(pthread_attr_getguardsize(&attributes, &guard_bytes) == 0);
	pthread_attr_destroy(&attributes);
	notifications++;
	if (value.sival_int)
		MUST(mq_send(notified, "y", 1, 1) == 0);
	else
		MUST(sem_post(&reported) == 0);
}

static void check_notifying_threads(void)
{
	pthread_attr_t attributes;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD,
		.sigev_notify_function = send_back,
		.sigev_notify_attributes = &attributes};
	struct itimerspec soon = {.it_value.tv_nsec = 1000000};
	char text[8];
	timer_t timer;

	MUST(pthread_attr_init(&attributes) == 0);
	MUST(pthread_attr_setguardsize(&attributes, 0) == 0);
	notified = make_queue();
	event.sigev_value.sival_int = 1;
	guard_bytes = 1;
	CHECK(mq_notify(notified, &event) == 0);
	MUST(mq_send(notified, "x", 1, 1) == 0);
	CHECK(mq_receive(notified, text, sizeof text, NULL) == 1 && text[0] == 'x');
	CHECK(mq_receive(notified, text, sizeof text, NULL) == 1 && text[0] == 'y');
	CHECK(notifications == 1 && guard_bytes == 0);
	MUST(mq_close(notified) == 0);

	MUST(sem_init(&reported, 0, 0) == 0);
	event.sigev_value.sival_int = 0;
	guard_bytes = 1;
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	MUST(pthread_attr_destroy(&attributes) == 0);
	MUST(timer_settime(timer, 0, &soon, NULL) == 0);
	MUST(sem_wait(&reported) == 0);
	CHECK(notifications == 2 && guard_bytes == 0);
	MUST(timer_delete(timer) == 0);
}

int main(void)
{
	pthread_t thread;
	int right = 0;

	jump_with_masks(&right);
	CHECK(right == 2);
	check_pending_jump();
	check_many();
	check_stacks();
	right = 0;
	MUST(pthread_create(&thread, NULL, jump_with_masks, &right) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(right == 2);
	check_pending_jump();
	check_receivers();
	check_interrupted_queue();
	check_notifying_threads();
	return check_status();
}
