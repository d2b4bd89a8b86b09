/*
 * The number of seeds that a test of random programs tries: the percentage RADDLE_TEST_SEEDS of its
 * full number, at least one. tools/check sets 10. If the variable is not set, a test tries all.
 * tests/support/seeds does the same for scripts.
 */
#pragma once

#include <stdlib.h>

static inline unsigned long test_seeds(unsigned long full)
{
	const char *text = getenv("RADDLE_TEST_SEEDS");
	const unsigned long percent = text ? strtoul(text, NULL, 10) : 100;
	const unsigned long count = full * percent / 100;

	return count ? count : 1;
}
