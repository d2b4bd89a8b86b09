/* The work of `raddle explain`: make runs, rank patterns, test the top ones, show runs for them. */
#pragma once

#include "commands/explain/explain_result.h"

struct explain_work {
	uint64_t runs;
	bool is_exact;	  /* make no further runs, even if few of them failed or passed */
	uint64_t time_ns; /* time for the whole command */
	enum suspicion suspicion;
	uint32_t limit;	  /* limit on the number of different patterns */
	uint32_t answers; /* explanations to test and report in full */
	bool without_cause;
};

/* `finding` and `options` must outlive the result. Release: explain_result_release(). */
int explain_work(struct explain_result *result, const struct finding *finding,
	const struct explain_options *options, const struct explain_work *work, struct error *err);
/* Removes answers that make no failure likelier: runs where raddle forces them fail as seldom as
 * the compared runs. Also removes answers that are no cause and lie in libraries alone, if the
 * finding has a remedy already. */
void explain_result_drop_refuted(struct explain_result *result);
void explain_result_release(struct explain_result *result);

/* Times of the same runs with and without recording, the shortest of several rounds. */
struct explain_cost {
	uint64_t with_ns, without_ns;
};

int explain_measure_cost(struct explain_cost *cost, const struct finding *finding,
	const struct explain_options *options, uint64_t runs, struct error *err);
