/* What is kept of the environment of a finding, and what a replay makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "campaign/surroundings.h"

static int set_up(void **state)
{
	(void)state;
	return clearenv();
}

static void assert_names(
	void (*ask)(const char *, struct strbuf *), const char *json, const char *names)
{
	struct strbuf found;

	strbuf_init(&found);
	ask(json, &found);
	assert_string_equal(found.text ? found.text : "", names);
	strbuf_release(&found);
}

static void test_surroundings__secrets_are_not_kept(void **state)
{
	char *json;

	(void)state;
	(void)setenv("OMP_NUM_THREADS", "4", 1);
	(void)setenv("PASSWORD", "hunter2", 1);
	(void)setenv("PWD", "/here", 1);
	json = surroundings_take();
	assert_non_null(strstr(json, "\"OMP_NUM_THREADS\":\"4\""));
	assert_non_null(strstr(json, "\"PASSWORD\":{\"hash\":"));
	assert_null(strstr(json, "hunter2"));
	assert_null(strstr(json, "PWD"));
	assert_names(surroundings_compare, json, "");
	free(json);
}

static void test_surroundings__known_ones_come_back(void **state)
{
	char *json;

	(void)state;
	(void)setenv("TZ", "Asia/Tokyo", 1);
	(void)setenv("PASSWORD", "one", 1);
	json = surroundings_take();
	(void)setenv("TZ", "UTC", 1);
	(void)setenv("PASSWORD", "two", 1);
	(void)setenv("LC_ALL", "C", 1);
	(void)setenv("NEWER", "", 1);
	assert_names(surroundings_restore, json, "TZ, LC_ALL");
	assert_string_equal(getenv("TZ"), "Asia/Tokyo");
	assert_string_equal(getenv("PASSWORD"), "two");
	assert_null(getenv("LC_ALL"));
	assert_names(surroundings_compare, json, "PASSWORD, NEWER");
	free(json);
}

/* Findings of an older raddle have none, and a stored one may have been changed by hand. */
static void test_surroundings__what_is_none_changes_nothing(void **state)
{
	(void)state;
	(void)setenv("TZ", "UTC", 1);
	assert_names(surroundings_restore, NULL, "");
	assert_names(surroundings_restore, "[1", "");
	assert_names(surroundings_restore, "{\"PATH\": \"/x\", \"TZ\": 3, \"A=B\": \"x\"}", "");
	assert_string_equal(getenv("TZ"), "UTC");
	assert_names(surroundings_compare, NULL, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_surroundings__secrets_are_not_kept, set_up),
		cmocka_unit_test_setup(test_surroundings__known_ones_come_back, set_up),
		cmocka_unit_test_setup(test_surroundings__what_is_none_changes_nothing, set_up),
	};

	return cmocka_run_group_tests_name("surroundings", tests, NULL, NULL);
}
