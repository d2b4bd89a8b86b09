/* Annotations of atomic sets and units: what is read, what is refused, what they mean. */
#include "analyses/units/atomic_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct symbols_part part(const char *type, const char *location, const char *variable)
{
	struct symbols_part made = {.type = type,
		.variable = variable,
		.location = (char *)(uintptr_t)location,
		.type_count = type ? 1 : 0};

	made.types[0] = type;
	return made;
}

static void test_atomic_rules__of_units_the_last_counts(void **unused)
{
	struct atomic_rules rules = {0};

	(void)unused;
	assert_int_equal(atomic_rules_add(&rules, "  unit drain # all of it", "a:1", NULL), 0);
	assert_int_equal(atomic_rules_add(&rules, "", "a:2", NULL), 0);
	assert_int_equal(atomic_rules_add(&rules, "# nothing", "a:3", NULL), 0);
	assert_int_equal(rules.count, 1);
	assert_int_equal(atomic_rules_unit(&rules, "drain"), ATOMIC_YES);
	assert_int_equal(atomic_rules_unit(&rules, "fill"), ATOMIC_UNSAID);
	assert_int_equal(atomic_rules_add(&rules, "no-unit drain", "b:1", NULL), 0);
	assert_int_equal(atomic_rules_unit(&rules, "drain"), ATOMIC_NO);
	atomic_rules_release(&rules);
}

static void test_atomic_rules__parts_are_structs_fields_and_variables(void **unused)
{
	const struct symbols_part savings = part("struct account", ".savings", "main_account");
	const struct symbols_part saving = part("struct account", ".savings_rate", NULL);
	const struct symbols_part element = part("struct cache", ".entries[3].key", NULL);
	const struct symbols_part total = part(NULL, "", "total");
	struct atomic_rules rules = {0};

	(void)unused;
	assert_int_equal(
		atomic_rules_add(&rules, "set money account.savings total", "a:1", NULL), 0);
	assert_int_equal(atomic_rules_add(&rules, "set keys cache.entries", "a:2", NULL), 0);
	assert_ptr_equal(atomic_rules_part(&rules, &savings), &rules.items[0]);
	assert_ptr_equal(atomic_rules_part(&rules, &total), &rules.items[0]);
	assert_ptr_equal(atomic_rules_part(&rules, &element), &rules.items[1]);
	assert_null(atomic_rules_part(&rules, &saving));
	/* Fields of one struct agree in each object; with anything else there is one set. */
	assert_false(atomic_rule_is_of_objects(&rules.items[0]));
	assert_true(atomic_rule_is_of_objects(&rules.items[1]));
	assert_int_equal(atomic_rules_add(&rules, "no-set main_account", "a:3", NULL), 0);
	assert_int_equal(atomic_rules_part(&rules, &savings)->verb, ATOMIC_NO_SET);
	atomic_rules_release(&rules);
}

static void test_atomic_rules__refuse_with_one_line(void **unused)
{
	static const struct {
		const char *line, *says;
	} bad[] = {
		{"units drain",
			"s:7: units is no annotation; a line begins with unit, no-unit, set "
			"or no-set"},
		{"unit", "s:7: unit wants one function"},
		{"unit drain fill", "s:7: unit wants one function"},
		{"set money", "s:7: set wants a name and the parts of the set: set NAME PART..."},
		{"no-set", "s:7: no-set wants one struct, field or variable"},
	};
	struct atomic_rules rules = {0};
	struct error err;

	(void)unused;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_true(atomic_rules_add(&rules, bad[i].line, "s:7", &err) < 0);
		assert_string_equal(err.text, bad[i].says);
	}
	assert_int_equal(rules.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_atomic_rules__of_units_the_last_counts),
		cmocka_unit_test(test_atomic_rules__parts_are_structs_fields_and_variables),
		cmocka_unit_test(test_atomic_rules__refuse_with_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
