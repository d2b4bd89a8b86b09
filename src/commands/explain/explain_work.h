/* The work of `raddle explain`: making runs, ranking, testing what ranks first, and showing it. */
#ifndef RADDLE_COMMANDS_EXPLAIN_EXPLAIN_WORK_H
#define RADDLE_COMMANDS_EXPLAIN_EXPLAIN_WORK_H

#include "commands/explain/explain_result.h"

struct explain_work {
	uint64_t runs;
	bool is_exact;	  /* not more, even if few of them failed or passed */
	uint64_t time_ns; /* for all of it */
	enum suspicion suspicion;
	uint32_t limit;	  /* of different patterns */
	uint32_t answers; /* explanations that are tested and told in full */
	bool without_cause;
};

void explain_work_init(struct explain_work *work);

/* `finding` and `options` must outlive the result, which is released with explain_result_release. */
int explain_work(struct explain_result *result, const struct finding *finding,
	const struct explain_options *options, const struct explain_work *work, struct error *err);
void explain_result_release(struct explain_result *result);

/* The shortest of several rounds of the same runs, recorded and not. */
struct explain_cost {
	uint64_t with_ns, without_ns;
};

int explain_measure_cost(struct explain_cost *cost, const struct finding *finding,
	const struct explain_options *options, uint64_t runs, struct error *err);

#endif
