/*
 * Shares the time of a suite among its cases. Every case first gets a slice of equal length. After
 * that, the next slice goes to the case that promises most: the number of pairs of locations that its
 * last slice was the first to cover, by the time that the case has used. A case that shows nothing
 * new still gets a turn when its time is short against that of the others.
 */
#pragma once

#include "commands/test/suite/test_suite.h"

/* Time of the first slice of a case. time_ns: budget of the suite; 0: no limit. */
uint64_t test_share_first_ns(uint64_t time_ns, uint32_t cases);
/* Returns the number of the case or executed program that gets the next slice; the suite's total:
 * there is none. */
uint32_t test_share_next(const struct test_suite *suite);
/* Time of the next slice of the case. Slices grow, because each one starts the program again.
 * left_ns: remaining time of the suite. */
uint64_t test_share_slice_ns(const struct test_case *test, uint64_t first_ns, uint64_t left_ns);
/* Returns how much of the suite's remaining time, left_ns, the next campaign of a test case may use, including the
 * investigation of its failures. The rest is reserved for the cases that have not been explored at all. */
uint64_t test_share_campaign_ns(
	const struct test_suite *suite, uint64_t first_ns, uint64_t left_ns);
