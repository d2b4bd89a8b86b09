/*
 * Baselines for a scheduling point. Prints processor time per switch, in nanoseconds:
 *   switches user N     between two contexts by the runtime's own context switch, thread-local base included
 *   switches kernel N   between two kernel threads on one CPU that wake each other by a futex
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/platform.h"
#include "support/stopwatch.h"

#define STACK_BYTES 65536

static struct context home, away;
static char stack[STACK_BYTES];
static void (*switch_to)(struct context *from, const struct context *to);

static void bounce(void *unused)
{
	(void)unused;
	for (;;)
		switch_to(&away, &home);
}

static void user_switches(long count)
{
	switch_to = context_has_fsgsbase() ? context_switch_fsgsbase : context_switch_prctl;
	home.thread_base = context_thread_base();
	context_make(&away, stack + sizeof stack, home.thread_base, bounce, NULL);
	for (long i = 0; i < count / 2; i++)
		switch_to(&home, &away);
}

static uint32_t turn;
static long hand_overs;

static void take_turns(uint32_t own)
{
	for (long i = 0; i < hand_overs / 2; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != own)
			(void)syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !own, NULL, NULL, 0);
		__atomic_store_n(&turn, !own, __ATOMIC_RELEASE);
		(void)syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *other_thread(void *unused)
{
	take_turns(1);
	return unused;
}

static void kernel_switches(long count)
{
	pthread_t thread;

	hand_overs = count;
	if (pthread_create(&thread, NULL, other_thread, NULL) != 0)
		exit(1);
	take_turns(0);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	struct stopwatch watch;
	long count = argc == 3 ? atol(argv[2]) : 0;

	if (count <= 0)
		return 2;
	stopwatch_start(&watch);
	if (strcmp(argv[1], "user") == 0)
		user_switches(count);
	else
		kernel_switches(count);
	stopwatch_stop(&watch);
	(void)printf("%.2f\n", watch.cpu_us * 1e3 / (double)count);
	return 0;
}
