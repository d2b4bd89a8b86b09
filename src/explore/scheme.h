/*
 * How workers receive the runs of a campaign. campaign.c chooses one scheme:
 *
 * - scheme_rounds: sampling strategies. Each run has a position in its round, and results are counted
 *   in the order of positions.
 * - scheme_tasks: exhaustive strategies with several workers. Worker 0 owns the strategy's state.
 *   The other workers explore subtrees of it.
 * - scheme_sequence: other strategies whose runs depend on each other, by one worker.
 *
 * A shard is a range of run numbers, or a setting of the strategy. A remote worker is a worker
 * (worker/remote.h).
 */
#pragma once

#include "explore/campaign_state.h"

/* The functions of a scheme; they may be NULL. */
struct scheme {
	bool has_independent_runs; /* runs depend on their seed and on earlier rounds only */
	/* Called before the workers are opened, and after. */
	void (*open)(struct campaign *campaign);
	void (*begin)(struct campaign *campaign);
	void (*close)(struct campaign *campaign);
	void (*prepare_worker)(const struct campaign *campaign, struct campaign_worker *worker);
	/* Sets the worker's next batch and its plan. Returns 1 if set, 0 if the worker has nothing
	 * to do now. */
	int (*next_batch)(
		struct campaign *campaign, struct campaign_worker *worker, struct error *err);
	/* Handles a report instead of the loop: 1; 0: the loop handles it. */
	int (*take_report)(struct campaign *campaign, struct campaign_worker *worker,
		enum contract_report report, struct error *err);
	/* Called when the worker has made the runs of its batch below `end`. */
	void (*take_runs)(struct campaign *campaign, struct campaign_worker *worker, uint64_t end);
	/* Called when the worker's last run failed. */
	int (*take_failure)(
		struct campaign *campaign, struct campaign_worker *worker, struct error *err);
	/* Counts complete runs, investigates failures, and makes further runs available. */
	int (*advance)(struct campaign *campaign, struct error *err);
	/* Returns true if all runs are made: the campaign ends before its budget is used up. */
	bool (*is_finished)(const struct campaign *campaign);
	/* Gives batches to idle workers. */
	int (*wake)(struct campaign *campaign, struct error *err);
	/* Returns the time until the loop must continue without a report; UINT64_MAX: none. */
	uint64_t (*wait_ns)(struct campaign *campaign);
	/* Called when no further run is made. `is_cut`: a budget or an interrupt ended the
	 * campaign. */
	int (*end)(struct campaign *campaign, bool is_cut, struct error *err);
	/* Makes further runs ignore this race, from now on or from the next round on. */
	void (*ignore_race)(struct campaign *campaign, struct race_pair pair);
	/* Returns the number below which all runs have been made. */
	uint64_t (*runs_made)(const struct campaign *campaign);
	/* Adds the totals of the runs made, and sets further fields of the result. */
	void (*add_totals)(struct campaign *campaign, struct contract_totals *totals);
	/* Sets the final parts of the result. */
	void (*conclude)(struct campaign *campaign);
};

extern const struct scheme scheme_rounds, scheme_sequence, scheme_tasks;

/* Implemented in runs.c; scheme_tasks also uses these functions for its owner. */
int sequence_next_batch(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);
int sequence_take_failure(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);
bool sequence_is_finished(const struct campaign *campaign);
void sequence_ignore_race(struct campaign *campaign, struct race_pair pair);
void sequence_add_totals(struct campaign *campaign, struct contract_totals *totals);

/* runs.c: selects the numbers of the campaign's runs. */
int runs_find(struct campaign *campaign, struct error *err);
uint64_t runs_left(const struct campaign *campaign);
void runs_request(struct campaign *campaign);
