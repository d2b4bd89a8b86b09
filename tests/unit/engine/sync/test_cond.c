/* Condition variables: no wake-up is lost, under every schedule. */
#include "engine/sync.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulation.h"

#define MICROSECOND UINT64_C(1000)

struct scene {
	struct mutex mutex;
	struct cond cond;
	int tokens;
	int taken;
	int wakeups;
	int result[4];
	int order[4];
	int order_count;
};

static struct scene scene;
static const struct simulation plain;
static uint64_t seen; /* runs in which the wanted case occurred */

static void clear(void *argument)
{
	memset(argument, 0, sizeof scene);
}

static void lock(struct scene *s)
{
	(void)mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
}

static void unlock(struct scene *s)
{
	(void)mutex_unlock(&s->mutex, 2);
}

static void expect_pass(void *argument, const struct outcome *outcome)
{
	(void)argument;
	assert_int_equal(outcome->kind, OUTCOME_PASSED);
}

/* ---- signals and waiters ---- */

static void *take_token(void *argument)
{
	struct scene *s = argument;

	lock(s);
	while (!s->tokens) {
		int error = cond_wait(&s->cond, &s->mutex, ENGINE_FOREVER, 40);

		s->result[0] |= error;
		s->wakeups++;
	}
	s->tokens--;
	s->taken++;
	unlock(s);
	return NULL;
}

static void give_two_tokens(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *one = simulation_create(take_token, s);
	struct engine_thread *two = simulation_create(take_token, s);

	for (int i = 0; i < 2; i++) {
		lock(s);
		s->tokens++;
		cond_signal(&s->cond, 3);
		unlock(s);
	}
	simulation_join(one);
	simulation_join(two);
	s->result[1] = cond_destroy(&s->cond, 4);
}

static void expect_both_taken(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_pass(s, outcome);
	assert_int_equal(s->taken, 2);
	assert_int_equal(s->result[0], 0);
	assert_int_equal(s->result[1], 0);
	assert_int_equal(s->cond.waiter_count, 0);
	assert_int_equal(s->mutex.users, 0);
	seen += s->wakeups > 2;
}

static void test_signal__is_never_lost_to_a_waiter(void **state)
{
	uint64_t runs;

	(void)state;
	runs = simulate_every_schedule(&plain, give_two_tokens, &scene, clear, expect_both_taken);
	assert_true(runs > 1000);
}

static void test_spurious_wakeups__do_no_harm_to_a_loop(void **state)
{
	static const struct simulation spurious = {.has_spurious_wakeups = true};

	(void)state;
	seen = 0;
	for (uint64_t seed = 0; seed < 500; seed++) {
		struct simulation simulation = spurious;

		simulation.seed = seed;
		clear(&scene);
		expect_both_taken(&scene, simulate(&simulation, give_two_tokens, &scene));
	}
	assert_true(seen > 0);
}

static void wait_for_nothing(void *argument)
{
	struct scene *s = argument;

	cond_signal(&s->cond, 3);
	cond_broadcast(&s->cond, 3);
	lock(s);
	for (;;)
		(void)cond_wait(&s->cond, &s->mutex, ENGINE_FOREVER, 44);
}

static void expect_lost(const struct outcome *outcome)
{
	assert_int_equal(outcome->kind, OUTCOME_LOST_WAKEUP);
	assert_int_equal(outcome->wait_count, 1);
	assert_int_equal(outcome->waits[0].op, OP_COND_WAKE);
	assert_int_equal(outcome->waits[0].lost_signals, 2);
	assert_int_equal(outcome->waits[0].site, 44);
	assert_int_equal(outcome->waits[0].object_address, (uintptr_t)&scene.cond);
}

static void test_lost_signals__are_counted_and_reported(void **state)
{
	static const struct simulation spurious = {.has_spurious_wakeups = true};

	(void)state;
	clear(&scene);
	expect_lost(simulate(&plain, wait_for_nothing, &scene));
	clear(&scene);
	expect_lost(simulate(&spurious, wait_for_nothing, &scene));
}

/* ---- the kind of a run that is stuck ---- */

static void *wait_for_ever(void *argument)
{
	struct scene *s = argument;

	lock(s);
	s->tokens++;
	for (;;)
		(void)cond_wait(&s->cond, &s->mutex, ENGINE_FOREVER, 45);
	return NULL;
}

/* The signal finds a thread waiting or not: the thread waits for another one either way. */
static void signal_once(void *argument)
{
	struct engine_thread *thread = simulation_create(wait_for_ever, argument);
	struct scene *s = argument;

	cond_signal(&s->cond, 3);
	simulation_join(thread);
}

static void never_signal(void *argument)
{
	simulation_join(simulation_create(wait_for_ever, argument));
}

static struct mutex session;

static void *wait_in_session(void *argument)
{
	(void)mutex_lock(&session, ENGINE_FOREVER, 5);
	return wait_for_ever(argument);
}

/* The lock that the waiting thread keeps is what its signaller wants. */
static void signal_and_want_session(void *argument)
{
	struct scene *s = argument;

	memset(&session, 0, sizeof session);
	(void)simulation_create(wait_in_session, s);
	cond_signal(&s->cond, 3);
	while (!s->tokens) {
		lock(s);
		unlock(s);
	}
	(void)mutex_lock(&session, ENGINE_FOREVER, 6);
}

static void expect_kind(void (*code)(void *), enum outcome_kind kind)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct simulation simulation = {.seed = seed};

		clear(&scene);
		assert_int_equal(simulate(&simulation, code, &scene)->kind, kind);
	}
}

static void test_stuck__has_one_kind_under_every_schedule(void **state)
{
	(void)state;
	expect_kind(signal_once, OUTCOME_LOST_WAKEUP);
	expect_kind(never_signal, OUTCOME_DEADLOCK);
	expect_kind(signal_and_want_session, OUTCOME_DEADLOCK);
}

/* ---- choice of the woken thread ---- */

static void *wait_in_line(void *argument)
{
	struct scene *s = &scene;

	lock(s);
	(void)cond_wait(&s->cond, &s->mutex, ENGINE_FOREVER, 1);
	s->order[s->order_count++] = *(int *)argument;
	unlock(s);
	return NULL;
}

/* Waiters 0, 1, 2 stand in the queue in that order when the body continues. */
static void queue_up_three(struct scene *s, struct engine_thread *threads[3])
{
	static int number[3] = {0, 1, 2};

	for (uint16_t i = 0; i < 3; i++) {
		threads[i] = simulation_create(wait_in_line, &number[i]);
		while (s->cond.waiter_count == i)
			engine_point(OP_YIELD, NULL, 0);
	}
}

static void signal_three(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *threads[3];

	queue_up_three(s, threads);
	for (int i = 0; i < 3; i++) {
		cond_signal(&s->cond, 3);
		s->result[i] = s->cond.waiter_count;
		while (s->order_count == i)
			engine_point(OP_YIELD, NULL, 0);
	}
	for (int i = 0; i < 3; i++)
		simulation_join(threads[i]);
}

static void test_signal__may_wake_any_waiter(void **state)
{
	uint32_t orders = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct simulation simulation = {.seed = seed};

		clear(&scene);
		expect_pass(NULL, simulate(&simulation, signal_three, &scene));
		assert_int_equal(scene.result[0], 2);
		assert_int_equal(scene.result[1], 1);
		assert_int_equal(scene.result[2], 0);
		assert_int_equal(
			1 << scene.order[0] | 1 << scene.order[1] | 1 << scene.order[2], 7);
		orders |= 1u << (scene.order[0] * 3 + scene.order[1]);
	}
	/* All six orders: (0,1) (0,2) (1,0) (1,2) (2,0) (2,1). The chance to miss one of them with
	 * fair choices is below 6 * (5/6)^300 < 1e-22. */
	assert_int_equal(orders, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 7);
}

static void broadcast_to_three(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *threads[3];

	queue_up_three(s, threads);
	lock(s);
	cond_broadcast(&s->cond, 3);
	s->result[0] = cond_destroy(&s->cond, 3); /* it is not used any more */
	unlock(s);
	for (int i = 0; i < 3; i++)
		simulation_join(threads[i]);
}

static void test_broadcast__wakes_all_and_frees_the_object(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct simulation simulation = {.seed = seed};

		clear(&scene);
		expect_pass(NULL, simulate(&simulation, broadcast_to_three, &scene));
		assert_int_equal(scene.order_count, 3);
		assert_int_equal(scene.result[0], 0);
	}
}

static void hold_mutex_of_woken(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *threads[3];

	queue_up_three(s, threads);
	lock(s);
	cond_broadcast(&s->cond, 3);
	simulation_join(threads[0]);
}

static void test_woken_waiter__is_shown_waiting_for_the_mutex(void **state)
{
	const struct outcome *outcome;

	(void)state;
	clear(&scene);
	outcome = simulate(&plain, hold_mutex_of_woken, &scene);
	assert_int_equal(outcome->kind, OUTCOME_DEADLOCK);
	assert_int_equal(outcome->wait_count, 4);
	assert_int_equal(outcome->waits[1].object_address, (uintptr_t)&scene.mutex);
	assert_int_equal(outcome->waits[1].holder.index, 0);
	assert_int_equal(outcome->waits[0].is_on_cycle, 1);
	assert_int_equal(outcome->waits[1].is_on_cycle, 1);
	assert_int_equal(outcome->waits[2].is_on_cycle, 0);
}

/* ---- time ---- */

static void wait_a_microsecond(void *argument)
{
	struct scene *s = argument;

	lock(s);
	s->result[0] = cond_wait(&s->cond, &s->mutex, MICROSECOND, 1);
	s->result[1] = s->mutex.holder;
	unlock(s);
}

static void test_timed_wait__times_out_with_the_mutex(void **state)
{
	const struct outcome *outcome;

	(void)state;
	clear(&scene);
	outcome = simulate(&plain, wait_a_microsecond, &scene);
	expect_pass(NULL, outcome);
	assert_int_equal(outcome->clock_ns, MICROSECOND);
	assert_int_equal(scene.result[0], ETIMEDOUT);
	assert_int_equal(scene.result[1], 1);
	assert_int_equal(scene.cond.waiter_count, 0);
}

static void *wait_with_limit(void *argument)
{
	struct scene *s = argument;
	int error = 0;

	lock(s);
	while (!s->tokens && error != ETIMEDOUT)
		error = cond_wait(&s->cond, &s->mutex, MICROSECOND, 1);
	s->result[0] = error;
	if (s->tokens)
		s->tokens--, s->taken++;
	unlock(s);
	return NULL;
}

static void signal_in_time(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *thread = simulation_create(wait_with_limit, s);

	lock(s);
	s->tokens++;
	unlock(s);
	cond_signal(&s->cond, 3);
	s->result[1] = s->cond.lost_signals;
	simulation_join(thread);
}

static void look_for_stall(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_pass(s, outcome);
	assert_int_equal(s->taken + s->tokens, 1);
	assert_int_equal(s->cond.waiter_count, 0);
	seen += s->result[0] == ETIMEDOUT;
	/* It left the queue by the signal or by the time-out, never by both. */
	if (!s->result[0])
		assert_int_equal(s->taken, 1);
}

static void test_stalls__race_with_the_signal(void **state)
{
	static const struct simulation stalled = {.stall_ns = STALL_ANY};
	uint64_t runs;

	(void)state;
	seen = 0;
	runs = simulate_every_schedule(&stalled, signal_in_time, &scene, clear, look_for_stall);
	assert_true(seen > 0);
	assert_true(seen < runs);
	seen = 0;
	simulate_every_schedule(&plain, signal_in_time, &scene, clear, look_for_stall);
	assert_int_equal(seen, 0);
}

/* ---- cancellation ---- */

static void *wait_for_cancel(void *argument)
{
	struct scene *s = argument;

	lock(s);
	while (!s->tokens && s->result[0] != SYNC_CANCELLED)
		s->result[0] = cond_wait(&s->cond, &s->mutex, ENGINE_FOREVER, 1);
	s->result[1] = s->mutex.holder == engine_current()->id.index + 1;
	if (s->tokens && s->result[0] != SYNC_CANCELLED)
		s->tokens--, s->taken++;
	unlock(s);
	return NULL;
}

static void cancel_one_of_two(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *cancelled = simulation_create(wait_for_cancel, s);
	struct engine_thread *other = simulation_create(take_token, s);

	lock(s);
	s->tokens = 1;
	cond_signal(&s->cond, 3);
	unlock(s);
	simulation_cancel(cancelled);
	simulation_join(cancelled);
	/* Either took the token; if the cancelled one did, the other needs one more. */
	lock(s);
	if (s->taken && s->result[0] != SYNC_CANCELLED) {
		s->tokens++;
		cond_broadcast(&s->cond, 3);
	}
	unlock(s);
	simulation_join(other);
}

static void expect_signal_kept(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_pass(s, outcome);
	assert_int_equal(s->result[1], 1);
	assert_int_equal(s->cond.waiter_count, 0);
	assert_int_equal(s->mutex.users, 0);
	seen += s->result[0] == SYNC_CANCELLED;
}

static void test_cancelled_waiter__keeps_the_mutex_and_no_signal(void **state)
{
	uint64_t runs;

	(void)state;
	seen = 0;
	runs = simulate_every_schedule(
		&plain, cancel_one_of_two, &scene, clear, expect_signal_kept);
	assert_true(seen > 0);
	assert_true(seen < runs);
}

/* ---- misuse ---- */

static void wait_without_mutex(void *argument)
{
	struct scene *s = argument;

	mutex_init(&s->mutex, MUTEX_ERRORCHECK, 0);
	s->result[0] = cond_wait(&s->cond, &s->mutex, ENGINE_FOREVER, 1);
	mutex_init(&s->mutex, MUTEX_NORMAL, 0);
	(void)cond_wait(&s->cond, &s->mutex, ENGINE_FOREVER, 5);
}

static void test_wait_without_the_mutex__is_refused_or_ends_the_run(void **state)
{
	const struct outcome *outcome;

	(void)state;
	clear(&scene);
	outcome = simulate(&plain, wait_without_mutex, &scene);
	assert_int_equal(scene.result[0], EPERM);
	assert_int_equal(outcome->kind, OUTCOME_UNLOCK_NOT_OWNED);
	assert_int_equal(outcome->site, 5);
	assert_int_equal(scene.cond.waiter_count, 0);
}

static void initialise_under_waiter(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *threads[3];

	queue_up_three(s, threads);
	memset(&s->cond, 0xff, sizeof s->cond);
	cond_broadcast(&s->cond, 1);
	simulation_join(threads[0]);
}

static void cancel_after_initialising(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *thread = simulation_create(wait_for_cancel, s);

	while (!s->cond.waiter_count)
		engine_point(OP_YIELD, NULL, 0);
	memset(&s->cond, 0, sizeof s->cond);
	simulation_cancel(thread);
	simulation_join(thread);
}

static void test_overwritten_object__strands_its_waiters_and_breaks_nothing(void **state)
{
	(void)state;
	clear(&scene);
	assert_int_equal(
		simulate(&plain, initialise_under_waiter, &scene)->kind, OUTCOME_LOST_WAKEUP);
	clear(&scene);
	expect_pass(NULL, simulate(&plain, cancel_after_initialising, &scene));
	assert_int_equal(scene.result[0], SYNC_CANCELLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signal__is_never_lost_to_a_waiter),
		cmocka_unit_test(test_spurious_wakeups__do_no_harm_to_a_loop),
		cmocka_unit_test(test_lost_signals__are_counted_and_reported),
		cmocka_unit_test(test_stuck__has_one_kind_under_every_schedule),
		cmocka_unit_test(test_signal__may_wake_any_waiter),
		cmocka_unit_test(test_broadcast__wakes_all_and_frees_the_object),
		cmocka_unit_test(test_woken_waiter__is_shown_waiting_for_the_mutex),
		cmocka_unit_test(test_timed_wait__times_out_with_the_mutex),
		cmocka_unit_test(test_stalls__race_with_the_signal),
		cmocka_unit_test(test_cancelled_waiter__keeps_the_mutex_and_no_signal),
		cmocka_unit_test(test_wait_without_the_mutex__is_refused_or_ends_the_run),
		cmocka_unit_test(test_overwritten_object__strands_its_waiters_and_breaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
