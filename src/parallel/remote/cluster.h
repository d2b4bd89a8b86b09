/*
 * One campaign on many machines: `mpirun -n N raddle run --mpi`. Rank 0, the leader, hands units of runs out, takes
 * them back from ranks that stall or vanish, and keeps the store; the others, its members, make the runs, each in a
 * campaign of its own whose numbers of runs come from rank 0, and send what they find at once. A member's death
 * costs its unit's runs, which another one makes again.
 */
#ifndef RADDLE_PARALLEL_REMOTE_CLUSTER_H
#define RADDLE_PARALLEL_REMOTE_CLUSTER_H

#include "explore/campaign.h"
#include "parallel/remote/link.h"

#define CLUSTER_SILENT_STANDARD_NS UINT64_C(30000000000)
/* So many times that rank 0 is waited for, and all the others where none of them is heard of. */
#define CLUSTER_PATIENCE 4

/*
 * Does the strategy go through all schedules? Then rank 0 leads a campaign whose parts (struct strategy_parts) the others
 * make, else it hands out runs.
 */
bool cluster_has_parts(const struct campaign_options *options);

/* Rank 0: as campaign_run(). `silent_ns`: a member that is not heard of for so long has lost its unit. */
int cluster_lead(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, const struct campaign_listener *listener,
	struct campaign_result *result, struct error *err);
/*
 * All others: until rank 0 says that it is over, or is not heard of for CLUSTER_PATIENCE times silent_ns. What a member has to
 * say it says by way of rank 0.
 */
int cluster_follow(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, struct error *err);

#endif
