/* Output of `raddle test` at its end: the table of cases, and the findings in order of urgency. */
#pragma once

#include "commands/test/suite/test_suite.h"

void test_print_table(const struct test_suite *suite);
/* `store`: as given, or NULL. */
void test_print_findings(const struct test_suite *suite, const char *store);
