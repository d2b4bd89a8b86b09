/* Signals that end the campaign, and those that are passed on to the program. */
#include "explore/services.h"
#include "process/forward.h"
#include "plan/stop.h"
#include "platform/platform.h"

/* Time for a program to end after a signal that was passed on, before the user is notified. */
#define ASKED_TO_END_NS UINT64_C(1000000000)
/* Grace period for unfinished runs: a twentieth of the campaign's time, at most one second. */
#define END_GRACE_NS UINT64_C(1000000000)
#define END_GRACE_PART 20
/* Grace period after an interrupt. Short, because the user waits for the end of the campaign. */
#define END_GRACE_INTERRUPTED_NS UINT64_C(250000000)

void signals_pass_on(struct campaign *campaign)
{
	struct worker *worker = &campaign->workers[0].worker;
	const uint64_t now_ns = platform_monotonic_ns();
	uint32_t guest;

	if (!campaign->options->forwards_signals || !worker->pid)
		return;
	guest = worker_guest_pid(worker);
	forward_pass_on(guest ? (pid_t)guest : worker->pid);
	if (forward_stop_count() == 0 || campaign->noticed.stop)
		return;
	if (!campaign->times.ending_ns)
		campaign->times.ending_ns = now_ns;
	if (now_ns - campaign->times.ending_ns < ASKED_TO_END_NS)
		return;
	campaign->noticed.stop = true;
	campaign_notice(campaign,
		"raddle passed the signal on, but the program has not ended; a second signal ends it");
}

bool signals_have_ended(const struct campaign *campaign)
{
	return *campaign->options->is_interrupted || forward_stop_count() > 1;
}

uint64_t signals_grace_ns(const struct campaign *campaign)
{
	const uint64_t part_ns = campaign->options->time_ns / END_GRACE_PART;

	if (*campaign->options->is_interrupted == STOP_TIME)
		return 0;
	if (signals_have_ended(campaign))
		return END_GRACE_INTERRUPTED_NS;
	return part_ns && part_ns < END_GRACE_NS ? part_ns : END_GRACE_NS;
}

bool signals_was_run_ended(struct campaign *campaign, struct campaign_worker *worker)
{
	const struct outcome *outcome = &worker->worker.contract->outcome;
	struct contract_totals *totals = &worker->worker.contract->totals;

	if (!campaign->options->forwards_signals || !forward_has_ended(outcome))
		return false;
	totals->runs--;
	totals->failures -= worker_is_failure(&worker->worker);
	totals->outcome[outcome->kind]--;
	campaign->result->is_interrupted = true;
	campaign->is_stopping = true;
	return true;
}
