#include "commands/test/test_share.h"

/* The first slices of all cases take one part in FIRST_PART of the time. */
#define FIRST_PART 4
#define FIRST_LEAST_NS UINT64_C(50000000)
#define FIRST_MOST_NS UINT64_C(2000000000)
/* Time that is reserved for each case not explored yet, in multiples of the first slice: besides its slice, a campaign
 * takes time to start the program and to end its last run. */
#define RESERVED_SLICES 2
/* One slice takes at most this part of the remaining time. */
#define LEFT_PART 8
/* A case that has failed already is worth this part of another one. */
#define FAILED_PART 16

uint64_t test_share_first_ns(uint64_t time_ns, uint32_t cases)
{
	const uint64_t first_ns = cases ? time_ns / FIRST_PART / cases : 0;

	if (!time_ns || first_ns > FIRST_MOST_NS)
		return FIRST_MOST_NS;
	return first_ns < FIRST_LEAST_NS ? FIRST_LEAST_NS : first_ns;
}

static double test_share_worth(const struct test_case *test)
{
	const double worth = (double)(test->novel + 1) / (double)(test->spent_ns + 1);

	return test->kinds ? worth / FAILED_PART : worth;
}

uint32_t test_share_next(const struct test_suite *suite)
{
	uint32_t best = suite->total;

	for (uint32_t i = 0; i < suite->total; i++)
		if (suite->cases[i].state == CASE_WAITING)
			return i;
	for (uint32_t i = 0; i < suite->total; i++)
		if (suite->cases[i].state == CASE_LIVE &&
			(best == suite->total || test_share_worth(&suite->cases[i]) >
							 test_share_worth(&suite->cases[best])))
			best = i;
	return best;
}

uint64_t test_share_slice_ns(const struct test_case *test, uint64_t first_ns, uint64_t left_ns)
{
	uint64_t slice_ns = 2 * test->slice_ns;

	if (slice_ns > left_ns / LEFT_PART)
		slice_ns = left_ns / LEFT_PART;
	return test->state == CASE_WAITING || slice_ns < first_ns ? first_ns : slice_ns;
}

uint64_t test_share_campaign_ns(const struct test_suite *suite, uint64_t first_ns, uint64_t left_ns)
{
	uint64_t others = 0, reserved_ns;

	for (uint32_t i = 0; i < suite->total; i++)
		others += suite->cases[i].state == CASE_WAITING;
	if (!others || first_ns > FIRST_MOST_NS || left_ns == UINT64_MAX)
		return left_ns;
	reserved_ns = (others - 1) * RESERVED_SLICES * first_ns;
	return left_ns > reserved_ns + first_ns ? left_ns - reserved_ns : first_ns;
}
