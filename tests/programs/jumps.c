/* EXPECT: passed runs=50 */
/* setjmp, sigsetjmp and hand-made coroutines inside threads, across scheduling points. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "check.h"

#define THREADS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static volatile int may_jump = 1;

static int go_deep(jmp_buf *target, int depth)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	if (depth > 0)
		return go_deep(target, depth - 1) + 1;
	if (may_jump)
		longjmp(*target, 5);
	return 0;
}

static void *jump(void *unused)
{
	volatile int rounds = 0;
	jmp_buf target;
	int value;

	(void)unused;
	value = setjmp(target);
	rounds++;
	if (rounds <= 3)
		go_deep(&target, 4);
	return (void *)(intptr_t)(rounds == 4 && value == 5);
}

static void *jump_with_mask(void *unused)
{
	sigset_t set, mask;
	sigjmp_buf target;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (sigsetjmp(target, 1) == 0) {
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		siglongjmp(target, 1);
	}
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	return (void *)(intptr_t)(sigismember(&mask, SIGUSR1) == 0);
}

struct coroutine {
	ucontext_t caller, self;
	char stack[64 * 1024];
	int steps;
};

static void step_three_times(unsigned low, unsigned high)
{
	struct coroutine *coroutine = (struct coroutine *)((uintptr_t)high << 32 | low);

	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&mutex);
		coroutine->steps++;
		pthread_mutex_unlock(&mutex);
		swapcontext(&coroutine->self, &coroutine->caller);
	}
}

static struct coroutine coroutines[THREADS];

static void *run_coroutine(void *argument)
{
	struct coroutine *coroutine = argument;
	uintptr_t address = (uintptr_t)coroutine;

	getcontext(&coroutine->self);
	coroutine->self.uc_stack.ss_sp = coroutine->stack;
	coroutine->self.uc_stack.ss_size = sizeof(coroutine->stack);
	coroutine->self.uc_link = &coroutine->caller;
	makecontext(&coroutine->self, (void (*)(void))step_three_times, 2, (unsigned)address,
		(unsigned)(address >> 32));
	for (int i = 0; i < 4; i++)
		swapcontext(&coroutine->caller, &coroutine->self);
	return (void *)(intptr_t)(coroutine->steps == 3);
}

static int all_succeed(void *(*start)(void *))
{
	pthread_t threads[THREADS];
	void *result;
	int all = 1;

	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, start, &coroutines[i]) == 0);
	for (int i = 0; i < THREADS; i++) {
		MUST(pthread_join(threads[i], &result) == 0);
		all = all && result;
	}
	return all;
}

int main(void)
{
	CHECK(all_succeed(jump));
	CHECK(all_succeed(jump_with_mask));
	CHECK(all_succeed(run_coroutine));
	return check_status();
}
