/* Tests which variables of the environment a finding stores, and how a replay uses them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/surroundings.h"

static int set_up(void **state)
{
	static char folder[] = "/tmp/raddle-surroundings-XXXXXX";

	(void)state;
	if (strstr(folder, "XXXXXX"))
		assert_non_null(mkdtemp(folder));
	assert_int_equal(clearenv(), 0);
	return setenv("XDG_STATE_HOME", folder, 1); /* folder of the key */
}

static void compare_own(const char *json, struct strbuf *different)
{
	surroundings_compare(json, true, different);
}

static void compare_foreign(const char *json, struct strbuf *different)
{
	surroundings_compare(json, false, different);
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
	assert_names(compare_own, json, "");
	free(json);
}

static void test_surroundings__known_ones_are_found_again(void **state)
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
	assert_names(compare_own, json, "PASSWORD, NEWER");
	free(json);
}

/* A reader of a finding cannot guess short values; a hash under another key shows no difference. */
static void test_surroundings__hashes_have_a_key(void **state)
{
	static const char unkeyed[] = "{\"PIN\": {\"hash\": \"0123456789abcdef\"}}";
	char other[] = "/tmp/raddle-surroundings-XXXXXX";
	char *json, *again, *elsewhere;

	(void)state;
	(void)setenv("PIN", "1234", 1);
	json = surroundings_take();
	again = surroundings_take();
	assert_non_null(mkdtemp(other));
	(void)setenv("XDG_STATE_HOME", other, 1);
	elsewhere = surroundings_take();
	assert_string_equal(json, again);
	assert_string_not_equal(json, elsewhere);
	assert_names(compare_foreign, json, "");
	assert_names(compare_own, unkeyed, "");
	free(json);
	free(again);
	free(elsewhere);
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
	assert_names(compare_own, NULL, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_surroundings__secrets_are_not_kept, set_up),
		cmocka_unit_test_setup(test_surroundings__known_ones_are_found_again, set_up),
		cmocka_unit_test_setup(test_surroundings__hashes_have_a_key, set_up),
		cmocka_unit_test_setup(test_surroundings__what_is_none_changes_nothing, set_up),
	};

	return cmocka_run_group_tests_name("surroundings", tests, NULL, NULL);
}
