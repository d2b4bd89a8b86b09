/* Checkpoints are made where they are cheaper than what they save, and nowhere else. */
#include "runtime/pay.c"

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

/* 100 ms for a run: nobody waits for a third one to try. */
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
		pay_taken(&used, 0, 1000);
		pay_dropped(&used, 0, 100000);
		pay_taken(&unused, 0, 1000);
		pay_dropped(&unused, 0, 0);
	}
	assert_true(pay_wants(&used, 1100));
	assert_false(pay_wants(&used, 999));
	assert_false(pay_wants(&unused, 100000));
	assert_true(pay_wants(&unused, 1100000)); /* 1024 times as long is always enough */
}

/* So much of the last run is had by many runs, so much less by few: they are made where it is many. */
static void pay__makes_them_at_the_height_that_pays(void **state)
{
	const uint32_t high = pay_height(100), low = pay_height(3);
	uint64_t made_high = 0, made_low = 0;
	struct pay pay;

	(void)state;
	assert_true(high > low && low > 0);
	assert_true(pay_height(UINT32_MAX) < PAY_HEIGHTS);
	pay_begin(&pay);
	for (int i = 0; i < 10000; i++) {
		if (pay_wants_here(&pay, high)) {
			pay_taken(&pay, high, 1000);
			pay_dropped(&pay, high, 5000);
			made_high++;
		}
		if (pay_wants_here(&pay, low)) {
			pay_taken(&pay, low, 1000);
			pay_dropped(&pay, low, 500);
			made_low++;
		}
	}
	assert_int_equal(made_high, 10000);
	assert_in_range(made_low, 10, 100); /* now and then, to see whether it still does not pay */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pay__goes_the_faster_way),
		cmocka_unit_test(pay__does_not_wait_where_runs_are_long),
		cmocka_unit_test(pay__looks_again),
		cmocka_unit_test(pay__makes_fewer_where_they_are_not_used),
		cmocka_unit_test(pay__makes_them_at_the_height_that_pays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
