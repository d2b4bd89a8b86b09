#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/settings.h"
#include "model/outcome/outcome.h"

static void test_settings__survive_json(void **state)
{
	struct settings settings, again;
	struct error err;
	char *json;

	(void)state;
	settings_init(&settings);
	settings.executor = EXECUTOR_KERNEL;
	settings.step_limit = 77;
	settings.hang_ns = 0;
	settings.stall_ns = STALL_ANY;
	settings.input = strdup("/tmp/a \"quoted\" file");
	assert_int_equal(settings_parse_tolerated("exit,hang", &settings.tolerated, &err), 0);
	json = settings_to_json(&settings);
	assert_int_equal(settings_from_json(json, &again, &err), 0);
	assert_int_equal(again.executor, EXECUTOR_KERNEL);
	assert_int_equal(again.step_limit, 77);
	assert_int_equal(again.hang_ns, 0);
	assert_true(again.stall_ns == STALL_ANY);
	assert_false(again.has_spurious_wakeups);
	assert_int_equal(again.tolerated, settings.tolerated);
	assert_string_equal(again.input, settings.input);
	assert_null(again.check);
	free(json);
	settings_release(&settings);
	settings_release(&again);
}

static const char *const written_without_races =
	"{\"executor\":\"fiber\",\"tolerated\":[],\"step_limit\":1,\"hang_ns\":1,"
	"\"random_seed\":1,\"stall_ns\":0,"
	"\"spurious_wakeups\":false,\"without_dispatch\":false,"
	"\"without_virtual_time\":false}";

static void test_settings__keep_which_races_pass(void **state)
{
	const struct race_pair pair = {.site = UINT64_MAX, .other = 0x401136};
	struct settings settings, copy, again;
	struct error err;
	char *json;

	(void)state;
	settings_init(&settings);
	assert_int_equal(settings_parse_fail_on("race", &settings, &err), 0);
	assert_true(races_ignore(&settings.races, pair));
	settings_copy(&copy, &settings);
	settings_release(&settings);
	json = settings_to_json(&copy);
	assert_int_equal(settings_from_json(json, &again, &err), 0);
	assert_true(again.races.are_failures);
	assert_int_equal(again.races.ignored_count, 1);
	assert_int_equal(again.races.ignored[0].site, UINT64_MAX);
	assert_int_equal(again.races.ignored[0].other, 0x401136);
	free(json);
	settings_release(&copy);
	settings_release(&again);
	assert_int_equal(settings_from_json(written_without_races, &again, &err), 0);
	assert_false(again.races.are_failures);
	settings_release(&again);
}

static void expect_damaged_races(const char *races)
{
	struct settings settings;
	struct error err;
	char json[512];

	assert_in_range(
		snprintf(json, sizeof json, "%.*s,\"races\":%s}",
			(int)strlen(written_without_races) - 1, written_without_races, races),
		1, sizeof json - 1);
	assert_int_equal(settings_from_json(json, &settings, &err), ERROR_FORMAT);
	assert_non_null(strstr(err.text, "(races)"));
}

static void test_settings__refuse_damaged_races(void **state)
{
	(void)state;
	expect_damaged_races("{\"ignored\":[[\"0x1\"]]}");
	expect_damaged_races("{\"ignored\":[[\"0x1\",2]]}");
	expect_damaged_races("{\"ignored\":[[\"0x1\",\"1\"]]}");
	expect_damaged_races("{\"ignored\":[[\"0x1\",\"0x\"]]}");
	expect_damaged_races("{\"ignored\":[[\"0x1\",\"0x10000000000000000\"]]}");
	expect_damaged_races("{\"ignored\":[\"0x1\",\"0x2\"]}");
	expect_damaged_races("{\"ignored\":[],\"weak\":3}");
	expect_damaged_races("{\"ignored\":[],\"weak\":-1}");
}

static void test_settings_parse_fail_on__takes_races_and_weak_accesses(void **state)
{
	struct settings settings, again;
	char *json;
	struct error err;

	(void)state;
	settings_init(&settings);
	assert_int_equal(settings_parse_fail_on("hang", &settings, &err), ERROR_USAGE);
	assert_string_equal(err.text,
		"--fail-on takes race, weak or weak:tso, not hang; all other failures always count (see "
		"--tolerate)");
	assert_false(settings.races.are_failures);
	assert_int_equal(settings_parse_fail_on("weak", &settings, &err), 0);
	assert_int_equal(settings.races.weak, MEMORY_MODEL_C11);
	assert_int_equal(settings_parse_fail_on("weak:tso", &settings, &err), 0);
	json = settings_to_json(&settings);
	assert_int_equal(settings_from_json(json, &again, &err), 0);
	assert_int_equal(again.races.weak, MEMORY_MODEL_TSO);
	assert_false(again.races.are_failures);
	free(json);
	settings_release(&again);
	settings_release(&settings);
}

static void test_settings__refuse_damaged_json(void **state)
{
	static const char *const damaged[] = {
		"",
		"{}",
		"[1]",
		"{\"executor\":\"fiber\"}",
		"{\"executor\":\"steam\",\"tolerated\":[],\"step_limit\":1,\"hang_ns\":1,"
		"\"random_seed\":1,\"stall_ns\":0,"
		"\"spurious_wakeups\":false,\"without_dispatch\":false,"
		"\"without_virtual_time\":false}",
		"{\"executor\":\"fiber\",\"tolerated\":[\"nonsense\"],\"step_limit\":1,\"hang_ns\":"
		"1,\"random_seed\":1,\"stall_ns\":0,"
		"\"spurious_wakeups\":false,\"without_dispatch\":false,"
		"\"without_virtual_time\":false}",
		"{\"executor\":\"fiber\",\"tolerated\":[],\"step_limit\":-1,\"hang_ns\":1,"
		"\"random_seed\":1,\"stall_ns\":0,"
		"\"spurious_wakeups\":false,\"without_dispatch\":false,"
		"\"without_virtual_time\":false}",
	};
	struct settings settings;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
		assert_int_equal(settings_from_json(damaged[i], &settings, &err), ERROR_FORMAT);
}

static void test_settings_parse_tolerated__names_what_there_is(void **state)
{
	uint32_t tolerated = 0;
	struct error err;

	(void)state;
	assert_int_equal(settings_parse_tolerated("deadlock", &tolerated, &err), 0);
	assert_int_equal(tolerated, 1u << OUTCOME_DEADLOCK);
	assert_int_equal(settings_parse_tolerated("exit,bogus", &tolerated, &err), ERROR_USAGE);
	assert_int_equal(tolerated, 1u << OUTCOME_DEADLOCK);
	assert_non_null(strstr(err.text, "bogus"));
	assert_non_null(strstr(err.text, "lost-wakeup"));
	/* "passed" is no failure, so there is nothing to tolerate. */
	assert_int_equal(settings_parse_tolerated("passed", &tolerated, &err), ERROR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings__survive_json),
		cmocka_unit_test(test_settings__keep_which_races_pass),
		cmocka_unit_test(test_settings__refuse_damaged_races),
		cmocka_unit_test(test_settings_parse_fail_on__takes_races_and_weak_accesses),
		cmocka_unit_test(test_settings__refuse_damaged_json),
		cmocka_unit_test(test_settings_parse_tolerated__names_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
