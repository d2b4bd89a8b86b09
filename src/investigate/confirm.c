#include "investigate/confirm.h"

#include "platform/platform.h"

int confirm(struct confirmation *out, const struct failure *failure,
	const struct probe_params *params, uint64_t until_ns, struct error *err)
{
	struct probe_params fresh = *params;
	struct probe_plan plan = probe_plan_exact(failure);
	struct probe probe;
	int result;

	fresh.restart = RESTART_EXEC;
	/* A computation that took a little longer than the hang time would otherwise fail again, as if it were a hang. */
	fresh.hang_ns = failure->outcome.kind == OUTCOME_HANG ? 2 * params->settings->hang_ns : 0;
	*out = (struct confirmation){0};
	result = probe_open(&probe, &fresh, err);
	if (result < 0)
		return result;
	while (out->replays < CONFIRM_REPLAYS) {
		const struct outcome *outcome = &probe.worker.contract->outcome;
		const uint64_t begun_ns = platform_monotonic_ns();
		uint64_t taken_ns;

		if (out->replays && until_ns && begun_ns + out->longest_ns >= until_ns)
			break;
		result = probe_run(&probe, &plan, err);
		if (result < 0)
			break;
		out->replays++;
		taken_ns = platform_monotonic_ns() - begun_ns;
		out->longest_ns = taken_ns > out->longest_ns ? taken_ns : out->longest_ns;
		out->diverged += probe.has_diverged;
		/* Kind and code only: addresses differ. */
		out->failed_again += probe.is_failure && !probe.has_diverged &&
				     outcome->kind == failure->outcome.kind &&
				     outcome->code == failure->outcome.code;
		/* A hang differs from a long computation only by the full limit. */
		if (out->failed_again && params->hang_ns)
			probe.worker.params.hang_ns = params->hang_ns;
	}
	probe_close(&probe);
	return result;
}
