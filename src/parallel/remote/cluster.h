/*
 * One campaign on many machines: `mpirun -n N raddle run --mpi`.
 *
 * Rank 0, the leader, distributes runs, owns the store and reports to the user. The other ranks are
 * the remote workers (identifier `member`), which make the runs. Two schemes exist: - Units: for
 * sampling strategies, the leader leases ranges of run numbers to remote workers (lease_table.h).
 * Ranges of a silent worker are leased again. Each remote worker runs a campaign of its own
 *   and sends findings at once.
 * - Tasks: for exhaustive strategies, the leader runs a campaign to which the remote workers belong
 * as workers (worker/remote.h). A lost task is made again.
 */
#pragma once

#include "explore/campaign.h"
#include "parallel/remote/link.h"

#define CLUSTER_SILENT_STANDARD_NS UINT64_C(30000000000)
/* The campaign ends if the leader, or all remote workers together, are silent for this many times
 * silent_ns. */
#define CLUSTER_PATIENCE 4

/* Returns whether the leader runs a campaign with remote workers, as the strategy is sequential. */
bool cluster_has_tasks(const struct campaign_options *options);

/* Runs the campaign on rank 0, like campaign_run(). A remote worker that is silent for `silent_ns`
 * loses its unit. */
int cluster_lead(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, const struct campaign_listener *listener,
	struct campaign_result *result, struct error *err);
/*
 * Runs until rank 0 ends the campaign, or is silent for CLUSTER_PATIENCE times silent_ns. Rank 0
 * reports the errors of a remote worker.
 */
int cluster_follow(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, struct error *err);
