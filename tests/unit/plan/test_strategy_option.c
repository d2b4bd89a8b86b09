#include "plan/strategy_option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulated_program.h"

static uint32_t index_of;
static struct strategy_config config;
static struct error failure;

static void strategy_parse__fills_standard_values(void **unused)
{
	(void)unused;
	assert_int_equal(strategy_parse("pct", &index_of, &config, &failure), 0);
	assert_ptr_equal(strategies[index_of], &strategy_pct);
	assert_int_equal(config.option[0], strategy_pct.options[0].standard);
	assert_int_equal(config.thread_capacity, THREAD_CAPACITY);
}

static void strategy_parse__takes_options(void **unused)
{
	(void)unused;
	assert_int_equal(strategy_parse("pct,depth=5", &index_of, &config, &failure), 0);
	assert_int_equal(config.option[0], 5);
}

static void strategy_parse__knows_the_standard_strategy(void **unused)
{
	(void)unused;
	assert_int_equal(strategy_parse(STRATEGY_STANDARD, &index_of, &config, &failure), 0);
	assert_ptr_equal(strategies[index_of], &strategy_portfolio);
}

/* The text is refused in these words, and nothing is changed. */
static void assert_refused(const char *text, const char *words)
{
	uint32_t index = 4711;
	struct strategy_config untouched = {.option = {42}};

	failure = (struct error){0};
	assert_int_equal(strategy_parse(text, &index, &untouched, &failure), ERROR_USAGE);
	assert_string_equal(failure.text, words);
	assert_null(strchr(failure.text, '\n'));
	assert_int_equal(index, 4711);
	assert_int_equal(untouched.option[0], 42);
}

static void strategy_parse__lists_strategies_where_one_is_unknown(void **unused)
{
	char words[512];

	(void)unused;
	(void)snprintf(words, sizeof words, "there is no strategy 'ptc'; known are ");
	for (uint32_t i = 0; i < strategy_count; i++)
		(void)snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s",
			i ? ", " : "", strategies[i]->name);
	assert_refused("ptc", words);
	assert_int_equal(strategy_parse("", &index_of, &config, &failure), ERROR_USAGE);
}

static void strategy_parse__lists_options_where_one_is_unknown(void **unused)
{
	(void)unused;
	assert_refused("pct,dept=3", "strategy 'pct' has no option 'dept'; its options are depth");
	assert_refused("pct,", "strategy 'pct' has no option ''; its options are depth");
	assert_refused("random,depth=3", "strategy 'random' has no options, but 'depth' was given; "
					 "write only 'random'");
}

static void strategy_parse__names_the_range_where_a_value_is_outside(void **unused)
{
	static const char *const values[] = {
		"1", "17", "", "x", "3x", " 3", "-3", "3.5", "99999999999999999999999"};

	(void)unused;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char text[64] = "pct,depth=";
		char words[200] = "option 'depth' of strategy 'pct' cannot be '";

		strcat(text, values[i]);
		strcat(words, values[i]);
		strcat(words, "'; give a whole number from 2 to 16, such as depth=3");
		assert_refused(text, words);
	}
	assert_refused(
		"pct,depth", "option 'depth' of strategy 'pct' needs a value; write depth=3");
}

static void strategy_parse__refuses_what_contradicts_itself(void **unused)
{
	(void)unused;
	assert_refused("rpro,depth=3,events=all,depth=4",
		"option 'depth' of strategy 'rpro' is given twice; leave one of them out");
	assert_refused("pct,depth=3,depth=3",
		"option 'depth' of strategy 'pct' is given twice; leave one of them out");
	assert_refused("rpro,depth=2,radius=4",
		"strategy 'rpro': depth=2 has one change point, so a radius has no effect; leave "
		"one of them out");
	assert_int_equal(strategy_parse("rpro,depth=3,radius=4,events=all,windows=one", &index_of,
				 &config, &failure),
		0);
}

static void strategy_parse__survives_a_text_of_any_length(void **unused)
{
	static char text[5000];

	(void)unused;
	memset(text, 'a', sizeof text - 1);
	assert_int_equal(strategy_parse(text, &index_of, &config, &failure), ERROR_USAGE);
	memcpy(text, "pct,", 4);
	assert_int_equal(strategy_parse(text, &index_of, &config, &failure), ERROR_USAGE);
	memcpy(text, "pct,depth=", 10);
	assert_int_equal(strategy_parse(text, &index_of, &config, &failure), ERROR_USAGE);
}

static void strategy_format__is_the_inverse(void **unused)
{
	char text[64];

	(void)unused;
	assert_int_equal(strategy_parse("pct,depth=7", &index_of, &config, &failure), 0);
	strategy_format(index_of, &config, text, sizeof text);
	assert_string_equal(text, "pct,depth=7");
	assert_int_equal(strategy_parse("random", &index_of, &config, &failure), 0);
	strategy_format(index_of, &config, text, sizeof text);
	assert_string_equal(text, "random");
}

static void strategy_format_run__names_the_arm_of_a_portfolio(void **unused)
{
	static const struct simulated_op step[] = {ADD(0, 1)};
	static const struct simulated_code codes[] = {CODE(step)};
	static const struct simulated_program program = {
		.codes = codes, .code_count = 1, .initial_count = 1};
	struct simulated_campaign campaign;
	char text[64];

	(void)unused;
	simulated_campaign_init(&campaign, &program, &strategy_portfolio, 0, 1);
	assert_int_equal(simulated_campaign_run(&campaign), OUTCOME_PASSED);
	assert_int_equal(strategy_parse("portfolio", &index_of, &config, &failure), 0);
	strategy_format_run(index_of, &config, campaign.state, text, sizeof text);
	assert_string_equal(text, "portfolio: surw");
	assert_int_equal(strategy_parse("pct", &index_of, &config, &failure), 0);
	strategy_format_run(index_of, &config, NULL, text, sizeof text);
	assert_string_equal(text, "pct,depth=3");
	simulated_campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strategy_parse__fills_standard_values),
		cmocka_unit_test(strategy_parse__takes_options),
		cmocka_unit_test(strategy_parse__knows_the_standard_strategy),
		cmocka_unit_test(strategy_parse__lists_strategies_where_one_is_unknown),
		cmocka_unit_test(strategy_parse__lists_options_where_one_is_unknown),
		cmocka_unit_test(strategy_parse__names_the_range_where_a_value_is_outside),
		cmocka_unit_test(strategy_parse__refuses_what_contradicts_itself),
		cmocka_unit_test(strategy_parse__survives_a_text_of_any_length),
		cmocka_unit_test(strategy_format__is_the_inverse),
		cmocka_unit_test(strategy_format_run__names_the_arm_of_a_portfolio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
