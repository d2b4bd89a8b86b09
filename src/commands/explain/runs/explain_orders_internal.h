/* Shared by the files that try memory orders. */
#pragma once

#include "commands/explain/runs/explain_internal.h"
#include "commands/explain/runs/explain_orders.h"

struct orders_search {
	struct explain *explain;
	struct explain_orders *out;
	struct probe probe;
	struct error *err;
	uint64_t until_ns;
	uint64_t runs_wanted; /* random runs of a trial without an exhaustive search */
	bool is_large;	      /* an exhaustive search was not completed */
};

enum orders_trial { TRIAL_FAILS, TRIAL_PASSES, TRIAL_UNFINISHED };

/* Repeats the finding's run and collects the weak accesses. out->model stays MEMORY_MODEL_SC if the
 * run delays no store. */
int orders_collect(struct orders_search *search);
/* Opens search->probe; the caller closes it. */
int orders_open(struct orders_search *search);
/* Makes runs without a change up to a failure: sets out->is_repeatable and runs_wanted. */
int orders_measure(struct orders_search *search);
/* Do runs with these changes fail? Sets the number of runs, and whether they are all executions. */
int orders_try(
	struct orders_search *search, struct orders_repair *repair, enum orders_trial *trial);
