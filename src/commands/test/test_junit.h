#pragma once

#include "commands/test/test_record.h"

/* Returns all cases as JUnit XML; the caller frees the text. `store`: as given, or NULL. */
char *test_junit_make(const struct test_record *record, const char *store);
