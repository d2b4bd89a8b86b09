/* A test suite and the results of its cases, for CI systems. Strings may contain any bytes. */
#pragma once

#include <stdint.h>

enum report_case_result {
	REPORT_CASE_PASSED,
	REPORT_CASE_FAILED,
	REPORT_CASE_SKIPPED,
	REPORT_CASE_ERROR
};

struct report_case {
	const char *name;
	enum report_case_result result;
	double seconds;
	const char *type;    /* kind of the failure; NULL: none */
	const char *message; /* one line */
	const char *text;    /* further lines; NULL: none */
};

struct report_suite {
	const char *name; /* command line of the program */
	const struct report_case *cases;
	uint32_t count;
	double seconds;
};

/* Returns the suite as JUnit XML; the caller frees the text. */
char *report_suite_to_junit(const struct report_suite *suite);
