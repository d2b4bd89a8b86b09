/* Checkpoints are made where they are cheaper than what they save, and nowhere else. */
#include "runtime/restart/pay.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A program whose runs take so long one way and the other. Returns how many of `runs` were with them. */
static uint64_t live(struct pay *pay, uint64_t without, uint64_t with, uint64_t runs)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < runs; i++) {
		const bool is_with = pay->way == PAY_WITH;

		count += is_with;
		/* One in a hundred meets something that has nothing to do with it. */
		pay_run_ended(pay, (is_with ? with : without) * (i % 100 == 50 ? 1000 : 1));
	}
	return count;
}

static void pay__goes_the_faster_way(void **state)
{
	struct pay pay;

	(void)state;
	pay_begin(&pay);
	assert_true(live(&pay, 100000, 10000, 20000) > 19000);
	pay_begin(&pay);
	assert_true(live(&pay, 10000, 12000, 20000) < 1000);
}

/* 100 ms for a run: no third run is needed for a trial. */
static void pay__does_not_wait_where_runs_are_long(void **state)
{
	struct pay pay;

	(void)state;
	pay_begin(&pay);
	assert_int_equal(live(&pay, UINT64_C(200000000), 20000, 100), 98);
}

static void pay__looks_again(void **state)
{
	struct pay pay;

	(void)state;
	pay_begin(&pay);
	(void)live(&pay, 100000, 10000, 20000);
	assert_true(live(&pay, 10000, 100000, 40000) < 20000); /* the program has become another */
	assert_int_equal(pay.way, PAY_WITHOUT);
}

static void pay__makes_fewer_where_they_are_not_used(void **state)
{
	struct pay used, unused;

	(void)state;
	pay_begin(&used);
	pay_begin(&unused);
	for (int i = 0; i < 10000; i++) {
		pay_taken(&used, true, 1000);
		pay_dropped(&used, 100000);
		pay_taken(&unused, true, 1000);
		pay_dropped(&unused, 0);
	}
	assert_true(pay_wants(&used, 1100));
	assert_false(pay_wants(&used, 999));
	assert_false(pay_wants(&unused, 100000));
	assert_true(pay_wants(&unused, 1100000)); /* 1024 times as long is always enough */
}

/*
 * A tree of binary decisions, depth first. Each second run parts at the last decision, each fourth
 * at the last but one, and so on. An earlier checkpoint serves more runs, but there are fewer such
 * checkpoints.
 */
static void pay__makes_them_where_enough_runs_pass(void **state)
{
	struct pay pay;

	(void)state;
	pay_begin(&pay);
	assert_false(pay_knows(&pay, 100));
	for (uint32_t run = 1; run <= 2000; run++)
		pay_parted(&pay, 100 - 10 * (uint32_t)__builtin_ctz(run));
	assert_true(pay_knows(&pay, 100) && pay_knows(&pay, 90));
	assert_false(pay_knows(&pay, 95));
	pay_taken(&pay, false, 1000);
	assert_false(pay_wants_at(&pay, 100, 1750)); /* one more run */
	assert_true(pay_wants_at(&pay, 100, 2250));
	assert_true(pay_wants_at(&pay, 90, 750)); /* three */
	assert_false(pay_wants_at(&pay, 90, 600));
	assert_true(pay_wants_at(&pay, 80, 350)); /* seven */
	assert_false(
		pay_wants(&pay, 1500)); /* it is known where they part: others are not worth it */
}

/* More partings than there is room for: those that are frequent stay. */
static void pay__forgets_rare_partings(void **state)
{
	struct pay pay;

	(void)state;
	pay_begin(&pay);
	for (uint32_t run = 0; run < 3000; run++) {
		pay_parted(&pay, 1000);
		pay_parted(&pay, 1 + run % 500);
		pay_parted(&pay, PAY_ENTRIES + run);
	}
	assert_true(pay_knows(&pay, 1000));
	assert_false(pay_knows(&pay, PAY_ENTRIES + 1));
	assert_true(pay.parting_count <= PAY_PARTINGS);
}

/* The first one touches memory for the first time: that is no reason not to make a second. */
static void pay__does_not_believe_the_first_one(void **state)
{
	struct pay pay;

	(void)state;
	pay_begin(&pay);
	pay_taken(&pay, true, UINT64_C(100) * TAKING_GUESS);
	assert_true(pay_wants(&pay, UINT64_C(2) * TAKING_GUESS));
	for (int i = 0; i < 40; i++)
		pay_taken(&pay, false, UINT64_C(100) * TAKING_GUESS);
	assert_false(
		/* after so many results, the estimate changes */
		pay_wants(&pay, UINT64_C(20) * TAKING_GUESS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pay__goes_the_faster_way),
		cmocka_unit_test(pay__does_not_wait_where_runs_are_long),
		cmocka_unit_test(pay__looks_again),
		cmocka_unit_test(pay__makes_fewer_where_they_are_not_used),
		cmocka_unit_test(pay__makes_them_where_enough_runs_pass),
		cmocka_unit_test(pay__forgets_rare_partings),
		cmocka_unit_test(pay__does_not_believe_the_first_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
