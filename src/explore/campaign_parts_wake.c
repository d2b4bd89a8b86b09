/* Decides when the leader is interrupted to split off a task for an idle worker. */
#include "explore/campaign_internal.h"
#include "platform/platform.h"

/* True if a worker is idle and could execute a task. */
static bool is_any_free(const struct campaign *campaign)
{
	for (uint32_t i = 1; i < campaign->worker_count && !campaign->is_alone; i++) {
		const struct campaign_worker *worker = &campaign->workers[i];

		if (!worker->worker.is_lost && !worker->is_busy &&
			(!worker->part || parts_is_done(campaign, worker)))
			return true;
	}
	return false;
}

uint64_t parts_wake(struct campaign *campaign)
{
	struct campaign_worker *leader = &campaign->workers[0];
	const uint64_t now_ns = platform_monotonic_ns();

	if (!campaign->parts.strategy || !campaign->has_started || !leader->is_busy)
		return UINT64_MAX;
	if (!is_any_free(campaign))
		return parts_due(campaign);
	if (now_ns - leader->begun_ns < campaign->parts.patience_ns)
		return leader->begun_ns + campaign->parts.patience_ns - now_ns;
	worker_stop(&leader->worker);
	return UINT64_MAX;
}
