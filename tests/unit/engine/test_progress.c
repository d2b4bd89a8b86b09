/* The end of a run at the limit of steps: a livelock if its threads only wait, otherwise unfinished. */
#include "engine/sync.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/simulation.h"

static struct spin own[2], held;
static int variable;

/* ---- loops of waiting: one pass ---- */

static void yields(struct spin *spin)
{
	(void)spin;
	engine_point(OP_YIELD, NULL, 0);
}

static void tries(struct spin *spin)
{
	(void)spin;
	(void)spin_trylock(&held, 0);
}

static void retries(struct spin *spin)
{
	(void)spin_lock(spin, 0);
	(void)spin_trylock(&held, 0);
	(void)spin_unlock(spin, 0);
}

/* ---- loops that do more than wait ---- */

static void sections(struct spin *spin)
{
	(void)spin_lock(spin, 0);
	(void)spin_unlock(spin, 0);
}

static void reads(struct spin *spin)
{
	(void)spin;
	engine_point(OP_LOAD, &variable, 0);
}

static void writes_and_yields(struct spin *spin)
{
	(void)spin;
	engine_point(OP_STORE, &variable, 0);
	engine_point(OP_YIELD, NULL, 0);
}

/* A try fails, and a later critical section is complete. */
static void tries_and_works(struct spin *spin)
{
	retries(spin);
	sections(spin);
}

/* ---- a loop that changes shared state, and sleeps ---- */

static uint64_t sleep_ns;

static void counts_sleeps(struct spin *spin)
{
	struct engine_op op = {.kind = OP_SLEEP,
		.is_timeout_only = true,
		.deadline_ns = engine_clock_ns() + sleep_ns};

	(void)spin;
	engine_point(OP_STORE, &variable, 0);
	(void)engine_perform(&op);
}

static void (*loops[2])(struct spin *spin);

static void *repeat(void *index)
{
	for (;;)
		loops[(size_t)index](&own[(size_t)index]);
	return NULL;
}

static void run_loops(void *unused)
{
	struct engine_thread *threads[2];

	(void)unused;
	spin_init(&own[0], false);
	spin_init(&own[1], false);
	spin_init(&held, false);
	(void)spin_lock(&held, 0);
	for (size_t i = 0; i < 2; i++)
		threads[i] = simulation_create(repeat, (void *)i);
	for (size_t i = 0; i < 2; i++)
		(void)simulation_join(threads[i]);
}

static uint16_t outcome_of(
	void (*first)(struct spin *), void (*second)(struct spin *), uint64_t seed)
{
	const struct simulation simulation = {.seed = seed, .step_limit = 3000};
	const struct outcome *outcome;

	loops[0] = first;
	loops[1] = second;
	outcome = simulate(&simulation, run_loops, NULL);
	assert_int_equal(outcome->step, 3000);
	return outcome->kind;
}

static void test_limit__ends_a_livelock_if_all_wait(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		assert_int_equal(outcome_of(yields, yields, seed), OUTCOME_LIVELOCK);
		assert_int_equal(outcome_of(tries, tries, seed), OUTCOME_LIVELOCK);
		assert_int_equal(outcome_of(retries, retries, seed), OUTCOME_LIVELOCK);
		assert_int_equal(outcome_of(retries, yields, seed), OUTCOME_LIVELOCK);
	}
}

static void test_limit__ends_an_unfinished_run_if_one_works(void **state)
{
	static void (*const works[])(struct spin *) = {
		sections, reads, writes_and_yields, tries_and_works};

	(void)state;
	for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
		for (uint64_t seed = 1; seed <= 20; seed++) {
			assert_int_equal(outcome_of(works[i], works[i], seed), OUTCOME_STEP_LIMIT);
			assert_int_equal(outcome_of(yields, works[i], seed), OUTCOME_STEP_LIMIT);
			assert_int_equal(outcome_of(works[i], retries, seed), OUTCOME_STEP_LIMIT);
		}
	}
}

/* Of 1,500 steps in the second half, a quarter are sleeps that no other sleep overlaps. */
static void test_limit__ends_a_livelock_if_a_run_sleeps_for_ten_minutes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		sleep_ns = UINT64_C(2000000000);
		assert_int_equal(outcome_of(counts_sleeps, counts_sleeps, seed), OUTCOME_LIVELOCK);
		sleep_ns = UINT64_C(100000000);
		assert_int_equal(
			outcome_of(counts_sleeps, counts_sleeps, seed), OUTCOME_STEP_LIMIT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit__ends_a_livelock_if_all_wait),
		cmocka_unit_test(test_limit__ends_an_unfinished_run_if_one_works),
		cmocka_unit_test(test_limit__ends_a_livelock_if_a_run_sleeps_for_ten_minutes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
