/* EXPECT: passed runs=30 */
/* Properties that a thread has from the attributes of its creation, and those that it inherits from its creator. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "check.h"

#define STACK_BYTES (256 * 1024)

static char own_stack[STACK_BYTES] __attribute__((aligned(4096)));

static struct {
	void *stack;
	size_t stack_bytes, guard_bytes;
	int is_inside, is_detached, policy, scheduler;
	sigset_t mask;
	cpu_set_t processors;
} seen;

static void *look(void *unused)
{
	pthread_attr_t attributes;
	struct sched_param parameters;
	char here;

	MUST(pthread_getattr_np(pthread_self(), &attributes) == 0);
	pthread_attr_getstack(&attributes, &seen.stack, &seen.stack_bytes);
	pthread_attr_getguardsize(&attributes, &seen.guard_bytes);
	seen.is_inside =
		&here >= (char *)seen.stack && &here < (char *)seen.stack + seen.stack_bytes;
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_BLOCK, NULL, &seen.mask);
	pthread_getaffinity_np(pthread_self(), sizeof seen.processors, &seen.processors);
	pthread_getschedparam(pthread_self(), &seen.policy, &parameters);
	seen.scheduler = sched_getscheduler(0);
	return unused;
}

static int look_with(pthread_attr_t *attributes)
{
	pthread_t thread;
	int error = pthread_create(&thread, attributes, look, NULL);

	return error ? error : pthread_join(thread, NULL);
}

static void test_stack(void)
{
	pthread_attr_t attributes;

	CHECK(look_with(NULL) == 0 && seen.is_inside && seen.guard_bytes == 4096);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setguardsize(&attributes, 5000);
	CHECK(look_with(&attributes) == 0 && seen.is_inside);
	CHECK(seen.stack_bytes == STACK_BYTES && seen.guard_bytes == 8192);
	CHECK(pthread_attr_setstack(&attributes, own_stack, STACK_BYTES) == 0);
	CHECK(look_with(&attributes) == 0 && seen.is_inside);
	CHECK(seen.stack == own_stack && seen.stack_bytes == STACK_BYTES);
	pthread_attr_destroy(&attributes);
}

static void test_mask(void)
{
	pthread_attr_t attributes;
	sigset_t one, other;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	sigemptyset(&other);
	sigaddset(&other, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	CHECK(look_with(NULL) == 0 && sigismember(&seen.mask, SIGUSR1) == 1);
	pthread_attr_init(&attributes);
	CHECK(pthread_attr_setsigmask_np(&attributes, &other) == 0);
	CHECK(look_with(&attributes) == 0 && sigismember(&seen.mask, SIGUSR1) == 0);
	CHECK(sigismember(&seen.mask, SIGUSR2) == 1);
	pthread_attr_destroy(&attributes);
}

static void test_processors(void)
{
	pthread_attr_t attributes;
	cpu_set_t all, one;
	int first = 0;

	pthread_getaffinity_np(pthread_self(), sizeof all, &all);
	while (!CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	pthread_attr_init(&attributes);
	CHECK(pthread_attr_setaffinity_np(&attributes, sizeof one, &one) == 0);
	CHECK(look_with(&attributes) == 0 && CPU_EQUAL(&seen.processors, &one));
	CHECK(look_with(NULL) == 0 && CPU_EQUAL(&seen.processors, &all));
	pthread_setaffinity_np(pthread_self(), sizeof one, &one);
	CHECK(look_with(NULL) == 0 && CPU_EQUAL(&seen.processors, &one));
	pthread_attr_destroy(&attributes);
}

/* Refused, or what the thread has from the beginning. */
static void test_policy(void)
{
	struct sched_param least = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
	pthread_attr_t attributes;
	int error;

	CHECK(look_with(NULL) == 0 && seen.policy == SCHED_OTHER && seen.scheduler == SCHED_OTHER);
	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &least);
	error = look_with(&attributes);
	CHECK(error == EPERM ||
		(!error && seen.policy == SCHED_FIFO && seen.scheduler == SCHED_FIFO));
	pthread_attr_destroy(&attributes);
}

int main(void)
{
	test_stack();
	test_mask();
	test_processors();
	test_policy();
	return check_status();
}
