/*
 * Makes one run of the target, perhaps after the beginning of a schedule, and returns its record
 * (branches/record/run_record.h). The run continues without preemptions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "explore/campaign.h"
#include "investigate/probe/failure.h"
#include "plan/memory/memory_view.h"
#include "branches/record/run_record.h"

/* What run to record. All zero except `options`: a run without preemptions. */
struct record_request {
	const struct campaign_options *options;
	/* record that numbers the chosen sites; NULL if no sites are chosen */
	const struct run_record *like;
	const uint64_t *chosen;			 /* bit set over all sites */
	const struct schedule_segment *segments; /* thread: its index in `like` */
	uint32_t segment_count;
	uint64_t points_most; /* number of scheduling points to record; 0: all */
	/* a run is a livelock only beyond this many steps, instead of the limit in the settings */
	uint64_t steps_most;
	bool is_checked;
	bool wants_symbols;
	uint64_t until_ns;    /* deadline on the monotonic clock; 0: none */
	uint64_t random_seed; /* nonzero: threads are chosen at random after the schedule */
	bool skips_disabled;  /* the schedule is only followed as far as possible */
	bool is_sampled;      /* strategy `pos` chooses, with the random seed; no schedule */
};

/* A recorded run. Owns everything. */
struct recorded {
	struct run_record record;
	struct failure run; /* outcome and schedule of the run, which may have passed */
	bool is_failure;
	bool has_diverged; /* the run left the schedule at `diverged_step` */
	uint64_t diverged_step;
	bool has_sites;
	bool is_live; /* the run created a thread */
	/* the run was ended by its deadline: no failure, and the record is incomplete */
	bool is_cut;
	struct delayed_stores delayed; /* stores that other threads saw late */
	struct symbols *symbols;       /* if requested and available */
	uint64_t run_ns;
	uint64_t processor_ns; /* processor time of the process, including its start */
};

int record_run(const struct record_request *request, struct recorded *out, struct error *err);
/*
 * Fills a view from the chosen sites, a bit set over all sites of `like`. MEMORY_ALL: every access at
 * such a site is a scheduling point. MEMORY_NONE: the sites are only marked as chosen.
 */
void record_view_fill(struct memory_view *view, enum memory_mode mode,
	const struct run_record *like, const uint64_t *chosen);
/* Returns the time from now to the deadline. 0: there is no deadline; 1: no time is left. */
uint64_t record_time_until(uint64_t until_ns);
void recorded_release(struct recorded *recorded);
