/* What recording patterns costs a run. */
#include "commands/explain/explain_work.h"

/* The fastest round of several counts: other processes only slow a round down. */
#define COST_ROUNDS 7

static int explain_cost_measure_round(
	struct explain *explain, uint64_t runs, uint64_t *least_ns, struct error *err)
{
	uint64_t took_ns;
	int status = explain_measure(explain, runs, &took_ns, err);

	if (status == 0 && (!*least_ns || took_ns < *least_ns))
		*least_ns = took_ns;
	return status;
}

int explain_measure_cost(struct explain_cost *cost, const struct finding *finding,
	const struct explain_options *options, uint64_t runs, struct error *err)
{
	struct explain_options with_options = *options, without_options = *options;
	struct explain *with = NULL, *without = NULL;
	int status;

	*cost = (struct explain_cost){0};
	with_options.workers = without_options.workers = 1;
	without_options.without_patterns = true;
	status = explain_open(&with, finding, &with_options, err);
	if (status == 0)
		status = explain_open(&without, finding, &without_options, err);
	if (status == 0)
		status = explain_learn(with, err);
	if (status == 0)
		status = explain_learn(without, err);
	for (unsigned round = 0; status == 0 && round < COST_ROUNDS; round++) {
		status = explain_cost_measure_round(with, runs, &cost->with_ns, err);
		if (status == 0)
			status = explain_cost_measure_round(without, runs, &cost->without_ns, err);
	}
	explain_close(with);
	explain_close(without);
	return status;
}
