/* Entry point of libraddle-bitcode.so: load, constrain, solve, read. */
#include <stdlib.h>
#include <time.h>

#include "base/bug.h"
#include "bitcode/points_to_internal.h"

static points_to_bug *report;

void bug_report(const char *condition, const char *file, int line)
{
	report(condition, file, line);
	abort();
}

static void points_to_analysis_release(struct analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->call_site_count; i++)
		bitmap_release(&analysis->call_sites[i].objects);
	free(analysis->call_sites);
	number_map_release(&analysis->calls);
	number_map_release(&analysis->nodes);
	linkage_release(&analysis->linkage);
	flow_release(&analysis->flow);
	program_release(&analysis->program);
}

static time_t points_to_deadline_after(unsigned seconds)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* the clock exists */
	return seconds ? now.tv_sec + (time_t)seconds : 0;
}

__attribute__((visibility("default"))) points_to_entry raddle_points_to;

int raddle_points_to(struct points_to **out, const struct points_to_files *files,
	points_to_bug *bug, struct error *err)
{
	struct analysis analysis = {0};
	int status;

	report = bug;
	status = program_load(&analysis.program, files->paths, files->count, err);
	if (status)
		return status;
	flow_init(&analysis.flow);
	analysis.flow.deadline = points_to_deadline_after(files->seconds_most);
	analysis.flow.context = &analysis;
	analysis.flow.on_call = call_reaches;
	analysis.flow.on_foreign_function = function_becomes_foreign;
	analysis.nothing = flow_node(&analysis.flow);
	linkage_build(&analysis.linkage, &analysis.program, &analysis.flow);
	constrain_program(&analysis);
	if (flow_solve(&analysis.flow))
		*out = read_result(&analysis);
	else
		status = error_set(err, ERROR_LIMIT, "the points-to analysis takes more than %u s",
			files->seconds_most);
	points_to_analysis_release(&analysis);
	return status;
}
