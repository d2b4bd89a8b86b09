/*
 * One campaign on many machines: `mpirun -n N raddle run --mpi`.
 *
 * Rank 0, the leader, distributes runs, owns the store and reports to the user. The other ranks are
 * the remote workers (identifier `member`), which make the runs. Two schemes exist:
 * - Units: for sampling strategies, the leader leases ranges of run numbers to remote workers
 *   (lease_table.h). Each remote worker runs a campaign of its own and sends findings at once. The
 *   runs of a silent remote worker are leased to another one.
 * - Tasks: for exhaustive strategies, the leader runs a campaign whose other workers are the
 *   remote workers (worker/remote.h). A lost task is made again.
 */
#ifndef RADDLE_PARALLEL_REMOTE_CLUSTER_H
#define RADDLE_PARALLEL_REMOTE_CLUSTER_H

#include "explore/campaign.h"
#include "parallel/remote/link.h"

#define CLUSTER_SILENT_STANDARD_NS UINT64_C(30000000000)
/*
 * The leader is waited for this many times silent_ns. So are all remote workers, if none of
 * them sends anything.
 */
#define CLUSTER_PATIENCE 4

/*
 * True if the strategy is sequential: the leader then runs a campaign with remote workers. False:
 * the leader distributes runs.
 */
bool cluster_has_tasks(const struct campaign_options *options);

/* Rank 0: as campaign_run(). `silent_ns`: a remote worker silent for this time loses its unit. */
int cluster_lead(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, const struct campaign_listener *listener,
	struct campaign_result *result, struct error *err);
/*
 * Other ranks: make runs until rank 0 ends the campaign, or is silent for CLUSTER_PATIENCE times
 * silent_ns. Errors of a remote worker are reported by rank 0.
 */
int cluster_follow(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, struct error *err);

#endif
