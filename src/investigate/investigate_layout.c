/* An investigation as a whole. If a schedule fails likewise in the plain layout (model/memory/layout.h), the
 * finding gets that one; if a run without interruption points does, the finding gets that run. */
#include "investigate/investigate_internal.h"

#include <stdlib.h>

#include "base/strbuf.h"

/* `plain` must outlive the investigation: the probe then refers to it. */
static int investigate_plain_layout(struct investigation *investigation, struct failure *failure,
	struct settings *plain, struct error *err)
{
	struct probe_params params = investigation->probe;
	const struct probe_plan plan = probe_plan_exact(failure);
	struct probe probe;
	int result;

	*plain = *params.settings;
	plain->layout = 0;
	if (!failure->layout || params.settings->has_fixed_layout || failure->is_truncated)
		return 0;
	params.settings = plain;
	params.restart = RESTART_EXEC;
	result = probe_open(&probe, &params, err);
	if (result < 0)
		return result;
	result = probe_run(&probe, &plan, err);
	if (result == 0 && probe.is_failure && !probe.has_diverged &&
		probe_shows(&probe, failure)) {
		failure->layout = 0;
		investigation->probe.settings = plain;
	}
	probe_close(&probe);
	return result;
}

/* Adds to the detail that the failure needs its layout, unless that is the plain one. */
static void investigate_describe_layout(struct finding *finding)
{
	struct strbuf detail = STRBUF_EMPTY;

	if (!finding->schedule.layout)
		return;
	if (finding->detail)
		strbuf_addf(&detail, "%s\n", finding->detail);
	strbuf_addf(&detail,
		"The failure depends on addresses: the same schedule does not fail in the standard layout of memory. It fails in layout %u, which the schedule contains",
		finding->schedule.layout);
	free(finding->detail);
	finding->detail = strbuf_detach(&detail);
}

int investigate(struct investigation *investigation, struct failure *failure,
	struct finding *finding, struct error *err)
{
	const struct settings *const settings = investigation->probe.settings;
	const struct memory_view *const memory = investigation->probe.memory;
	struct memory_view learnt = {0};
	struct settings own = *settings, plain;
	int result = investigate_interruption_points(investigation, failure, &own, err);

	investigation->probe.settings = &own;
	if (result == 0)
		result = investigate_plain_layout(investigation, failure, &plain, err);
	if (result == 0)
		result = investigate_with_accesses(investigation, failure, &learnt, err);
	if (result == 0 || result == ERROR_INTERRUPTED)
		result = investigate_schedule(investigation, failure, finding, err);
	if (result == 0 && !settings->has_fixed_layout &&
		confirmation_is_repeatable(&investigation->confirmation))
		investigate_describe_layout(finding);
	investigation->probe.settings = settings;
	investigation->probe.memory = memory;
	memory_view_release(&learnt);
	return result;
}
