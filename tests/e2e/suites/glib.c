#include <glib.h>

#include "transfers.h"

static void no_threads(void)
{
	g_assert_cmpint(read_balance(), ==, 0);
}

static void one_section(void)
{
	g_assert_cmpint(balance_after(deposit_in_one_section), ==, 20);
}

static void two_sections(void)
{
	g_assert_cmpint(balance_after(deposit_in_two_sections), ==, 20);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/transfers/no threads", no_threads);
	g_test_add_func("/transfers/one", one_section);
	g_test_add_func("/transfers/one_two", two_sections);
	return g_test_run();
}
