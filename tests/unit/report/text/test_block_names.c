#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/text/block_names.h"

static struct block_names names;

static int forget_names(void **state)
{
	(void)state;
	block_names_release(&names);
	return 0;
}

static void assert_shown(const char *text, const char *expected)
{
	struct strbuf out = STRBUF_EMPTY;

	block_names_add_text(&names, text, &out);
	assert_string_equal(out.text ? out.text : "", expected);
	strbuf_release(&out);
}

static void test_block_names__a_block_is_named_by_its_type(void **state)
{
	(void)state;
	assert_shown("((struct account *)malloc at bank.c:41, #3).balance", "account#1.balance");
	assert_shown(
		"((struct account *)malloc at bank.c:41, #4)[2].balance", "account#2[2].balance");
	assert_shown("((struct account *)malloc at bank.c:41, #3).name", "account#1.name");
	assert_shown("((struct key *)malloc at bank.c:50 by main.1, #1)", "key#1");
	assert_shown("locks mutex ((net::Conn<...> *)shared_ptr at net.cpp:5, #1).lock :16",
		"locks mutex Conn#1.lock :16");
	assert_shown("reads ((unsigned char *)new at a.cpp:5, #1)[3]", "reads char#1[3]");
}

static void test_block_names__blocks_without_a_type(void **state)
{
	(void)state;
	assert_shown("(block of 24 bytes allocated at sem.cpp:12, #1)+8", "block#1+8");
	assert_shown("(string at a.cpp:12, #1)+8", "string#1+8");
	assert_shown("(mmap at a.cpp:12, #1)", "mapping#1");
}

static void test_block_names__freed_blocks_keep_their_name(void **state)
{
	(void)state;
	assert_shown("((struct account *)malloc at bank.c:41, #3).balance", "account#1.balance");
	assert_shown("((struct account *)malloc at bank.c:41, #3, freed).balance",
		"freed account#1.balance");
}

static void test_block_names__other_parentheses_stay(void **state)
{
	(void)state;
	assert_shown("(anonymous namespace)::total :7", "(anonymous namespace)::total :7");
	assert_shown("calls jobs.push_back(...)", "calls jobs.push_back(...)");
	assert_shown("push (ring.h:88) by produce", "push (ring.h:88) by produce");
	assert_shown("f(a, #", "f(a, #");
	assert_shown("", "");
}

static void test_block_names__the_legend_gives_full_names(void **state)
{
	const struct report_style style = {.columns = 80};
	struct strbuf out = STRBUF_EMPTY;

	(void)state;
	assert_shown("((struct key *)malloc at bank.c:50 by main.1, #1).next", "key#1.next");
	block_names_add_legend(&names, &style, &out);
	assert_string_equal(
		out.text, "  key#1 is (struct key *)malloc at bank.c:50 by main.1, #1\n");
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
			test_block_names__a_block_is_named_by_its_type, forget_names),
		cmocka_unit_test_teardown(test_block_names__blocks_without_a_type, forget_names),
		cmocka_unit_test_teardown(
			test_block_names__freed_blocks_keep_their_name, forget_names),
		cmocka_unit_test_teardown(test_block_names__other_parentheses_stay, forget_names),
		cmocka_unit_test_teardown(
			test_block_names__the_legend_gives_full_names, forget_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
