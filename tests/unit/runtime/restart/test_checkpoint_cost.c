/* Checkpoints are made where they are cheaper than what they save, and nowhere else. */
#include "runtime/restart/checkpoint_cost.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A program whose runs take so long one mode and the other. Returns how many of `runs` were with them. */
static uint64_t live(struct checkpoint_cost *cost, uint64_t without, uint64_t with, uint64_t runs)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < runs; i++) {
		const bool is_with = cost->mode == CHECKPOINT_COST_WITH;

		count += is_with;
		/* One in a hundred meets something that has nothing to do with it. */
		checkpoint_cost_run_ended(
			cost, (is_with ? with : without) * (i % 100 == 50 ? 1000 : 1));
	}
	return count;
}

static void checkpoint_cost__goes_the_faster_way(void **state)
{
	struct checkpoint_cost cost;

	(void)state;
	checkpoint_cost_begin(&cost);
	assert_true(live(&cost, 100000, 10000, 20000) > 19000);
	checkpoint_cost_begin(&cost);
	assert_true(live(&cost, 10000, 12000, 20000) < 1000);
}

/* 100 ms for a run: no third run is needed for a trial. */
static void checkpoint_cost__does_not_wait_where_runs_are_long(void **state)
{
	struct checkpoint_cost cost;

	(void)state;
	checkpoint_cost_begin(&cost);
	assert_int_equal(live(&cost, UINT64_C(200000000), 20000, 100), 98);
}

static void checkpoint_cost__looks_again(void **state)
{
	struct checkpoint_cost cost;

	(void)state;
	checkpoint_cost_begin(&cost);
	(void)live(&cost, 100000, 10000, 20000);
	assert_true(live(&cost, 10000, 100000, 40000) < 20000); /* the program has become another */
	assert_int_equal(cost.mode, CHECKPOINT_COST_WITHOUT);
}

static void checkpoint_cost__makes_fewer_where_they_are_not_used(void **state)
{
	struct checkpoint_cost used, unused;

	(void)state;
	checkpoint_cost_begin(&used);
	checkpoint_cost_begin(&unused);
	for (int i = 0; i < 10000; i++) {
		checkpoint_cost_taken(&used, true, 1000);
		checkpoint_cost_dropped(&used, 100000);
		checkpoint_cost_taken(&unused, true, 1000);
		checkpoint_cost_dropped(&unused, 0);
	}
	assert_true(checkpoint_cost_saves(&used, 1100));
	assert_false(checkpoint_cost_saves(&used, 999));
	assert_false(checkpoint_cost_saves(&unused, 100000));
	assert_true(
		checkpoint_cost_saves(&unused, 1100000)); /* 1024 times as long is always enough */
}

/*
 * A tree of binary decisions, depth first. Each second run parts at the last decision, each fourth
 * at the last but one, and so on. An earlier checkpoint serves more runs, but there are fewer such
 * checkpoints.
 */
static void checkpoint_cost__makes_them_where_enough_runs_pass(void **state)
{
	struct checkpoint_cost cost;

	(void)state;
	checkpoint_cost_begin(&cost);
	assert_false(checkpoint_cost_knows(&cost, 100));
	for (uint32_t run = 1; run <= 2000; run++)
		checkpoint_cost_diverged(&cost, 100 - 10 * (uint32_t)__builtin_ctz(run));
	assert_true(checkpoint_cost_knows(&cost, 100) && checkpoint_cost_knows(&cost, 90));
	assert_false(checkpoint_cost_knows(&cost, 95));
	checkpoint_cost_taken(&cost, false, 1000);
	assert_false(checkpoint_cost_saves_at(&cost, 100, 1750)); /* one more run */
	assert_true(checkpoint_cost_saves_at(&cost, 100, 2250));
	assert_true(checkpoint_cost_saves_at(&cost, 90, 750)); /* three */
	assert_false(checkpoint_cost_saves_at(&cost, 90, 600));
	assert_true(checkpoint_cost_saves_at(&cost, 80, 350)); /* seven */
	assert_true(checkpoint_cost_may_save_at(&cost, 100));  /* no run was measured yet */
	cost.mean[CHECKPOINT_COST_WITHOUT] = 875;
	assert_false(checkpoint_cost_may_save_at(&cost, 100));
	assert_true(checkpoint_cost_may_save_at(&cost, 90));
	assert_false(checkpoint_cost_saves(
		&cost, 1500)); /* it is known where they part: others are not worth it */
}

/* More divergences than there is room for: those that are frequent stay. */
static void checkpoint_cost__forgets_rare_partings(void **state)
{
	struct checkpoint_cost cost;

	(void)state;
	checkpoint_cost_begin(&cost);
	for (uint32_t run = 0; run < 3000; run++) {
		checkpoint_cost_diverged(&cost, 1000);
		checkpoint_cost_diverged(&cost, 1 + run % 500);
		checkpoint_cost_diverged(&cost, CHECKPOINT_COST_ENTRIES + run);
	}
	assert_true(checkpoint_cost_knows(&cost, 1000));
	assert_false(checkpoint_cost_knows(&cost, CHECKPOINT_COST_ENTRIES + 1));
	assert_true(cost.divergence_count <= CHECKPOINT_COST_DIVERGENCES);
}

/* The first one touches memory for the first time: that is no reason not to make a second. */
static void checkpoint_cost__does_not_believe_the_first_one(void **state)
{
	struct checkpoint_cost cost;

	(void)state;
	checkpoint_cost_begin(&cost);
	checkpoint_cost_taken(&cost, true, UINT64_C(100) * TAKING_GUESS);
	assert_true(checkpoint_cost_saves(&cost, UINT64_C(2) * TAKING_GUESS));
	for (int i = 0; i < 40; i++)
		checkpoint_cost_taken(&cost, false, UINT64_C(100) * TAKING_GUESS);
	assert_false(
		/* after so many results, the estimate changes */
		checkpoint_cost_saves(&cost, UINT64_C(20) * TAKING_GUESS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checkpoint_cost__goes_the_faster_way),
		cmocka_unit_test(checkpoint_cost__does_not_wait_where_runs_are_long),
		cmocka_unit_test(checkpoint_cost__looks_again),
		cmocka_unit_test(checkpoint_cost__makes_fewer_where_they_are_not_used),
		cmocka_unit_test(checkpoint_cost__makes_them_where_enough_runs_pass),
		cmocka_unit_test(checkpoint_cost__forgets_rare_partings),
		cmocka_unit_test(checkpoint_cost__does_not_believe_the_first_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
