/*
 * Every kind of failure of a function under raddle_check(). The test checks the outcome and the message,
 * that the token repeats the failure in one schedule, and that the process is as good as new afterwards.
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <raddle_check.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pair {
	pthread_mutex_t one, two;
	pthread_cond_t changed;
	int sum;
};

static void pair_set_up(struct pair *pair)
{
	pthread_mutex_init(&pair->one, NULL);
	pthread_mutex_init(&pair->two, NULL);
	pthread_cond_init(&pair->changed, NULL);
	pair->sum = 0;
}

/* Runs both in a thread of its own each. */
static void in_threads(void *(*first)(void *), void *(*second)(void *), void *argument)
{
	pthread_t threads[2];

	assert(pthread_create(&threads[0], NULL, first, argument) == 0);
	assert(pthread_create(&threads[1], NULL, second, argument) == 0);
	assert(pthread_join(threads[0], NULL) == 0);
	assert(pthread_join(threads[1], NULL) == 0);
}

static void *lock_one_two(void *argument)
{
	struct pair *pair = argument;

	pthread_mutex_lock(&pair->one);
	pthread_mutex_lock(&pair->two);
	pair->sum++;
	pthread_mutex_unlock(&pair->two);
	pthread_mutex_unlock(&pair->one);
	return NULL;
}

static void *lock_two_one(void *argument)
{
	struct pair *pair = argument;

	pthread_mutex_lock(&pair->two);
	pthread_mutex_lock(&pair->one);
	pair->sum++;
	pthread_mutex_unlock(&pair->one);
	pthread_mutex_unlock(&pair->two);
	return NULL;
}

static void *add_in_two_steps(void *argument)
{
	struct pair *pair = argument;
	int before;

	pthread_mutex_lock(&pair->one);
	before = pair->sum;
	pthread_mutex_unlock(&pair->one);
	pthread_mutex_lock(&pair->one);
	pair->sum = before + 1;
	pthread_mutex_unlock(&pair->one);
	return NULL;
}

/* Is an update lost? The later operations differ. */
static int lost_update(void)
{
	struct pair pair;

	pair_set_up(&pair);
	in_threads(add_in_two_steps, add_in_two_steps, &pair);
	return pair.sum != 2;
}

static int deadlocks(void *unused)
{
	struct pair pair;

	(void)unused;
	pair_set_up(&pair);
	in_threads(lock_one_two, lock_two_one, &pair);
	return 0;
}

static int returns(void *unused)
{
	(void)unused;
	return lost_update() ? 7 : 0;
}

static int asserts(void *unused)
{
	(void)unused;
	assert(!lost_update());
	return 0;
}

static int fails(void *unused)
{
	(void)unused;
	if (lost_update())
		raddle_fail("an update was lost");
	return 0;
}

static int exits(void *unused)
{
	(void)unused;
	if (lost_update())
		exit(3);
	return 0;
}

static int crashes(void *unused)
{
	(void)unused;
	if (lost_update())
		*(volatile int *)(uintptr_t)8 = 1;
	return 0;
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"
static int recurses(int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return recurses(depth + 1) + frame[0];
}

static int overflows(void *unused)
{
	(void)unused;
	return lost_update() ? recurses(0) : 0;
}

static jmp_buf outside;

static int jumps(void *unused)
{
	(void)unused;
	if (lost_update())
		longjmp(outside, 1);
	return 0;
}

static void *jump_in_thread(void *argument)
{
	if (add_in_two_steps(argument), ((struct pair *)argument)->sum == 1)
		longjmp(outside, 1);
	return NULL;
}

static int jumps_in_thread(void *unused)
{
	struct pair pair;

	(void)unused;
	pair_set_up(&pair);
	in_threads(add_in_two_steps, jump_in_thread, &pair);
	return 0;
}

static void *signal_once(void *argument)
{
	struct pair *pair = argument;

	pthread_mutex_lock(&pair->one);
	pthread_cond_signal(&pair->changed);
	pthread_mutex_unlock(&pair->one);
	return NULL;
}

static void *wait_once(void *argument)
{
	struct pair *pair = argument;

	pthread_mutex_lock(&pair->one);
	pthread_cond_wait(&pair->changed, &pair->one);
	pthread_mutex_unlock(&pair->one);
	return NULL;
}

static int loses_wakeup(void *unused)
{
	struct pair pair;

	(void)unused;
	pair_set_up(&pair);
	in_threads(wait_once, signal_once, &pair);
	return 0;
}

static int hangs(void *unused)
{
	static volatile int always;

	(void)unused;
	if (lost_update())
		while (!always)
			;
	return 0;
}

static int unlocks_foreign(void *unused)
{
	struct pair pair;

	(void)unused;
	pair_set_up(&pair);
	pthread_mutex_unlock(&pair.one);
	return 0;
}

static int chooses(void *unused)
{
	(void)unused;
	return raddle_choose(5) == 3;
}

/* Imitates a framework that notes one more failure in every schedule. */
static int one_more(void)
{
	static int count;

	return count++;
}

static int never_fails(void *unused)
{
	(void)unused;
	return 0;
}

static int passes(void *unused)
{
	struct pair pair;

	(void)unused;
	pair_set_up(&pair);
	in_threads(lock_one_two, lock_one_two, &pair);
	return pair.sum != 2;
}

struct kind {
	const char *name;
	int (*function)(void *);
	const char *outcome;
	const char *message; /* part of it */
	int (*has_failed)(void);
};

static const struct kind kinds[] = {
	{"deadlock", deadlocks, "deadlock", "every thread is blocked", NULL},
	{"returns", returns, "exit", "the function returned 7", NULL},
	{"assert", asserts, "abort", "in asserts (", NULL},
	{"raddle_fail", fails, "check", "an update was lost", NULL},
	{"exit", exits, "check", "called exit(3)", NULL},
	{"crash", crashes, "crash", "in crashes (", NULL},
	{"stack", overflows, "crash", "stack overflow", NULL},
	{"longjmp", jumps, "check", "longjmp()", NULL},
	{"longjmp in a thread", jumps_in_thread, "check", "longjmp()", NULL},
	{"lost wakeup", loses_wakeup, "lost-wakeup", "waits for a signal", NULL},
	{"hang", hangs, "hang", "in hangs (", NULL},
	{"misuse", unlocks_foreign, "unlock-not-owned", "does not hold", NULL},
	{"choice", chooses, "exit", "returned 1", NULL},
	{"framework", never_fails, "passed", "framework", one_more},
};

static int failures;

static void expect(int is_true, const char *kind, const char *what, const char *found)
{
	if (is_true)
		return;
	printf("FAILED: %s: %s: '%s'\n", kind, what, found);
	failures++;
}

/* The frame that longjmp() must not reach. */
static int check(const struct kind *kind, struct raddle_options *options)
{
	if (setjmp(outside)) {
		expect(0, kind->name, "the jump was let out", "");
		return 2;
	}
	return raddle_check(kind->function, NULL, options);
}

static unsigned simpler; /* kinds whose token is shorter than that of the schedule that was found */

static void expect_simple(const struct kind *kind, const char *token)
{
	struct raddle_result result = {0};
	struct raddle_options options = {.result = &result,
		.is_quiet = 1,
		.is_as_found = 1,
		.name = kind->name,
		.hang_milliseconds = 300,
		.has_failed = kind->has_failed,
		.replay = ""};

	expect(check(kind, &options) == 1, kind->name, "does not fail as found", result.message);
	expect(strlen(token) <= strlen(result.replay), kind->name, "is made longer", token);
	simpler += strlen(token) < strlen(result.replay);
}

static void try(const struct kind *kind)
{
	struct raddle_result result = {0};
	struct raddle_options options = {.result = &result,
		.is_quiet = 1,
		.name = kind->name,
		.hang_milliseconds = 300,
		.has_failed = kind->has_failed,
		.replay = ""};
	char *token;

	expect(check(kind, &options) == 1, kind->name, "does not fail", result.message);
	expect(!strcmp(result.outcome, kind->outcome), kind->name, "outcome", result.outcome);
	expect(strstr(result.message, kind->message) != NULL, kind->name, "message",
		result.message);
	token = strdup(result.replay);
	options.replay = token;
	expect(check(kind, &options) == 1, kind->name, "does not fail again", token);
	expect(result.schedules == 1, kind->name, "more than one schedule", token);
	expect(!strcmp(result.outcome, kind->outcome), kind->name, "outcome again", result.outcome);
	expect(!strcmp(result.replay, token), kind->name, "another token", result.replay);
	expect_simple(kind, token);
	free(token);

	options = (struct raddle_options){.result = &result, .is_quiet = 1, .schedules = 200};
	expect(raddle_check(passes, NULL, &options) == 0, kind->name, "what passes fails behind it",
		result.message);
}

static int handled;

static void handle(int signal)
{
	handled = signal;
}

int main(void)
{
	int before = dup(0);

	/* A check does not call the process's own handlers; they are installed again after the check. */
	signal(SIGABRT, handle);
	signal(SIGUSR1, handle);
	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
		try(&kinds[i]);
	expect(simpler >= 3, "kinds", "hardly any schedule is simplified", "");
	expect(handled == 0, "signals", "a handler of the process ran in a check", "");
	raise(SIGUSR1);
	expect(handled == SIGUSR1, "signals", "SIGUSR1 does not come", "");
	raise(SIGABRT);
	expect(handled == SIGABRT, "signals", "SIGABRT does not come", "");
	expect(dup(0) == before + 1, "descriptors", "checks left some open", "");
	printf("%d failures\n", failures);
	return failures != 0;
}
