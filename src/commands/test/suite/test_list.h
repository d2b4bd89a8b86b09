/*
 * Formats of lists of test cases. Each parser adds the cases of `text` to the suite, skips lines
 * that do not belong to the list, and refuses a list that it does not understand.
 */
#pragma once

#include "base/error.h"
#include "commands/test/suite/test_suite.h"

#define TEST_LIST_PARSER(name)                                                                     \
	int test_list_##name(const char *text, struct test_suite *suite, struct error *err)

/* One name per line. */
TEST_LIST_PARSER(names);
TEST_LIST_PARSER(googletest);
TEST_LIST_PARSER(catch2);
TEST_LIST_PARSER(doctest);
TEST_LIST_PARSER(boost);
TEST_LIST_PARSER(check);
TEST_LIST_PARSER(criterion);
TEST_LIST_PARSER(glib);
TEST_LIST_PARSER(acutest);
