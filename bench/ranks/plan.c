/*
 * plan MESSAGE_NS START_NS: a row for each number of ranks: how busy the model says that they would be. The
 * bookkeeping's own cost is measured and counts as part of an answer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "support/lease_table_model.h"
#include "support/stopwatch.h"

#define SECOND UINT64_C(1000000000)
#define ANSWER_NS 20000 /* time to receive and send one message, without bookkeeping */

/* Bookkeeping of one unit that is requested and made, among this many ranks. */
static double bookkeeping_ns(uint32_t ranks)
{
	const struct lease_table_options options = {
		.ranks = ranks, .end = UINT64_MAX / 2, .unit_ns = SECOND, .silent_ns = UINT64_MAX};
	struct lease_table *leases = lease_table_new(&options);
	const uint32_t units = 1000000;
	double begun_us, took_us;

	begun_us = stopwatch_now_us();
	for (uint32_t i = 0; i < units; i++) {
		struct lease_table_unit unit;

		(void)lease_table_ask(leases, i % ranks, i, &unit); /* a unit is always available */
		(void)lease_table_done(leases, i % ranks, i, SECOND);
	}
	took_us = stopwatch_now_us() - begun_us;
	lease_table_free(leases);
	return took_us * 1e3 / units;
}

void bug_report(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "plan: %s:%d: %s\n", file, line, condition);
	abort();
}

int main(int argc, char **argv)
{
	static const uint32_t ranks[] = {10, 100, 1000, 10000};

	if (argc != 3)
		return 2;
	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
		const double own_ns = bookkeeping_ns(ranks[i]);
		const struct lease_table_model model = {.ranks = ranks[i],
			.runs = (uint64_t)ranks[i] * 600 * 10000,
			.run_ns = SECOND / 10000,
			.unit_ns = 2 * SECOND,
			.start_ns = strtoull(argv[2], NULL, 10),
			.message_ns = strtoull(argv[1], NULL, 10),
			.answer_ns = ANSWER_NS + (uint64_t)own_ns,
			.seed = 1};
		const struct lease_table_outcome outcome = lease_table_simulate(&model);

		(void)printf("%u\t%.1f %%\t%.1f %%\t%.2f %%\t%.0f ns\t%.0f/s\n", ranks[i],
			100 * outcome.busy, 100 * outcome.useful, 100 * outcome.rank_0, own_ns,
			(double)outcome.units / outcome.seconds);
	}
	return 0;
}
