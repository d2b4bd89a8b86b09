/* What the user hears, once, of how raddle sees the target. */
#include "campaign/campaign_internal.h"

static void tell_sight(struct campaign *campaign, const struct campaign_worker *worker)
{
	const struct contract *contract = worker->worker.contract;
	struct campaign_start start = {
		.program = campaign->target.path,
		.has_memory_sites = contract->has_memory_sites,
		.has_dispatch = contract->has_dispatch,
		.restart = campaign->restart,
		.chosen_variables = campaign->chosen.variable_count,
		.chosen_sites = campaign->chosen.site_count,
		.resumed_runs = campaign->result->resumed_runs,
	};

	if (campaign->has_told_start)
		return;
	campaign->has_told_start = true;
	/* The runtime steps down by itself here: nobody would tell what a run did to the kernel. */
	if (campaign->restart == RESTART_REWIND && !contract->has_dispatch) {
		start.restart = campaign->restart = RESTART_FORK_CREATE;
		campaign_notice(campaign,
			"%s: waits inside the C library are not seen, and runs are restarted by fork",
			campaign->options->settings.without_dispatch
				? "system calls are not watched (--no-dispatch)"
				: "this kernel has no Syscall User Dispatch (Linux 5.11)");
	}
	if (campaign->listener->started)
		campaign->listener->started(campaign->listener->context, &start);
}

/* The runtime could not switch sites on: what looks like a search of memory is none. */
static void tell_refusal(struct campaign *campaign, const struct campaign_worker *worker)
{
	const char *refusal = contract_memory(worker->worker.contract)->refusal;

	if (campaign->has_told_refusal || !*refusal)
		return;
	campaign->has_told_refusal = true;
	campaign_notice(campaign,
		"not all accesses to memory are seen: %s; scheduling points are the others and its "
		"synchronisation operations",
		refusal);
}

void campaign_tell_start(struct campaign *campaign, const struct campaign_worker *worker)
{
	tell_sight(campaign, worker);
	tell_refusal(campaign, worker);
}

/* Each such wait takes a while of computing for nothing: a campaign is slow, and the user can help. */
void campaign_tell_spinning(struct campaign *campaign)
{
	if (campaign->has_told_spinning)
		return;
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		const struct contract *contract = campaign->workers[i].worker.contract;

		if (!contract || !__atomic_load_n(&contract->spin.loop_count, __ATOMIC_RELAXED))
			continue;
		campaign->has_told_spinning = true;
		campaign_notice(campaign,
			"a thread waits in a loop that only reads memory, which is noticed by its "
			"processor time: 1 s at first, then 20 ms each time; %s",
			contract->has_memory_sites
				? "build the code that it waits in with raddle-cc, too"
				: "built with raddle-cc it would be noticed at once");
		return;
	}
}
