/*
 * Makes one run of the target and keeps its record (branches/record/run_record.h). The run may follow the beginning
 * of a schedule, with accesses at chosen sites as scheduling points; from there on it goes without
 * preemptions.
 */
#ifndef RADDLE_COMMANDS_BRANCHES_RECORD_RUN_H
#define RADDLE_COMMANDS_BRANCHES_RECORD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "explore/campaign.h"
#include "investigate/failure.h"
#include "branches/record/run_record.h"

/* All zero but `options`: a run without preemptions. */
struct record_request {
	const struct campaign_options *options;
	const struct run_record *like; /* whose sites the chosen ones are; NULL: none is chosen */
	const uint64_t *chosen;	       /* bit set over all sites */
	const struct schedule_segment *segments; /* thread: index in `names` */
	uint32_t segment_count;
	const thread_name *names;
	uint32_t name_count;
	uint64_t bytes_most;  /* of the record that are kept; 0: the standard limit */
	uint64_t points_most; /* scheduling points that are recorded; 0: all */
	uint64_t steps_most;  /* fewer do not make a livelock, whatever the settings say */
	bool is_checked;
	bool wants_symbols;
	uint64_t until_ns;    /* of the monotonic clock: the run is ended then; 0: never */
	uint64_t random_seed; /* not 0: behind the schedule threads are chosen at random */
};

struct record_again;

/* Everything is owned. */
struct recorded {
	/* Where it is too long to be kept, `again` is its source. */
	struct run_record record;
	struct record_again *again;
	struct failure run; /* its outcome and schedule; perhaps it is no failure */
	bool is_failure;
	bool has_diverged; /* it did not follow the schedule, from this step on */
	uint64_t diverged_step;
	bool has_sites;
	bool is_live; /* it has made a thread */
	bool is_cut;  /* its time was over: it is no failure, and the record is a beginning */
	struct symbols *symbols; /* if they were wanted and could be had */
	uint64_t run_ns;
	uint64_t processor_ns; /* of its process, with the start */
};

int record_run(const struct record_request *request, struct recorded *out, struct error *err);
/* Has it been made again since, as often as it was asked for, and was it always the same? */
int recorded_check(const struct recorded *recorded, struct error *err);
void recorded_release(struct recorded *recorded);

#endif
