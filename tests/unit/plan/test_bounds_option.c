#include "plan/bounds_option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulated_program.h"

static void bounds_parse__fills_exactly_these_bounds(void **unused)
{
	struct strategy_config config;
	struct error failure;
	uint32_t index, weak = 0;

	(void)unused;
	assert_int_equal(bounds_parse("t=3,c=0,v=2,l=4", &index, &config, &weak, &failure), 0);
	assert_ptr_equal(strategies[index], &strategy_bounded);
	assert_int_equal(config.option[0], 0);
	assert_int_equal(config.option[1], 2);
	assert_int_equal(config.option[2], 3);
	assert_int_equal(config.option[5], 4);
	assert_int_equal(weak, 0);
}

static void bounds_parse__leaves_the_strategy_with_weak_choices_alone(void **unused)
{
	struct strategy_config config = {.option = {42}};
	struct error failure;
	uint32_t index = 4711, weak = 0;

	(void)unused;
	assert_int_equal(bounds_parse("w=0", &index, &config, &weak, &failure), 0);
	assert_int_equal(weak, 1);
	assert_int_equal(index, 4711);
	assert_int_equal(config.option[0], 42);
	assert_int_equal(bounds_parse("c=1,w=7,v=2,t=2", &index, &config, &weak, &failure), 0);
	assert_int_equal(weak, 8);
	assert_ptr_equal(strategies[index], &strategy_bounded);
}

static void assert_refused(const char *text, const char *words)
{
	struct strategy_config untouched = {.option = {42}};
	struct error failure = {0};
	uint32_t index = 4711, weak = 0;

	assert_int_equal(bounds_parse(text, &index, &untouched, &weak, &failure), ERROR_USAGE);
	assert_int_equal(weak, 0);
	assert_non_null(strstr(failure.text, words));
	assert_null(strchr(failure.text, '\n'));
	assert_int_equal(index, 4711);
	assert_int_equal(untouched.option[0], 42);
}

static void bounds_parse__says_what_is_wrong(void **unused)
{
	(void)unused;
	assert_refused("", "lacks c; give");
	assert_refused("c=1,v=1", "lacks t; give");
	assert_refused("c=1,v=0,t=2", "v=0 leaves no variable");
	assert_refused("c=1,v=1,t=0", "t=0 puts no two threads in an order; give t=2 or more");
	assert_refused("c=1,v=1,t=2,l=0", "l=0 leaves out all that is allocated");
	assert_refused("c=1,v=7,t=2", "v=7 is too much; v=6 is the most");
	assert_refused("c=99999999999999999999,v=1,t=2", "is too much");
	assert_refused("c=1,v=1,t=2,c=2", "has c twice; leave");
	assert_refused("depth=2", "cannot take 'depth=2'; give");
	assert_refused("c=-1,v=1,t=2", "cannot take 'c=-1'");
	assert_refused("w=1,w=2", "has w twice");
	assert_refused("w=x", "cannot take 'w=x'");
	assert_refused("w=1,c=1", "lacks v; give");
	assert_refused("w=99999999999", "is too much");
	assert_refused("c=1x,v=1,t=2", "cannot take 'c=1x'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_parse__fills_exactly_these_bounds),
		cmocka_unit_test(bounds_parse__leaves_the_strategy_with_weak_choices_alone),
		cmocka_unit_test(bounds_parse__says_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
