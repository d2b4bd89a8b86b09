#include <check.h>

#include "transfers.h"

START_TEST(no_threads)
{
	ck_assert_int_eq(read_balance(), 0);
}
END_TEST
START_TEST(one_section)
{
	ck_assert_int_eq(balance_after(deposit_in_one_section), 20);
}
END_TEST
START_TEST(two_sections)
{
	ck_assert_int_eq(balance_after(deposit_in_two_sections), 20);
}
END_TEST

static void add(Suite *suite, const char *name, const TTest *test)
{
	TCase *group = tcase_create(name);

	tcase_add_test(group, test);
	suite_add_tcase(suite, group);
}

int main(void)
{
	Suite *suite = suite_create("Transfers");
	SRunner *runner = srunner_create(suite);
	int failed;

	add(suite, "no threads", no_threads);
	add(suite, "one section", one_section);
	add(suite, "two sections", two_sections);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
