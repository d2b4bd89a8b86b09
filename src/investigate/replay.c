#include "investigate/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "process/children.h"
#include "investigate/investigate.h"
#include "investigate/trace_window.h"
#include "investigate/probe/probe.h"
#include "investigate/replay_setting.h"

/* Steps of a traced replay; takes a few hundred megabytes as text. */
#define REPLAY_STEPS_MAX 200000

int replay_prepare(struct replay_setting *setting, const struct finding *finding,
	const struct replay_options *options, struct error *err)
{
	int result;

	*setting = (struct replay_setting){0};
	if (!finding->argv || !finding->argv[0])
		return error_set(err, ERROR_FORMAT,
			"finding %s names no program; find it again with raddle run", finding->id);
	if (finding->directory && chdir(finding->directory) != 0)
		return error_set(err, ERROR_NOTFOUND,
			"the folder %s, where the program ran, cannot be entered (%s); restore it, or find the failure again",
			finding->directory, strerror(errno));
	result = settings_from_json(
		finding->settings ? finding->settings : "{}", &setting->settings, err);
	if (result < 0)
		return result;
	setting->settings.layout = finding->schedule.layout;
	setting->settings.interruption_points = finding->schedule.interruption_points;
	if (finding->memory)
		result = memory_view_from_json(finding->memory, &setting->memory, err);
	if (result == 0)
		result = target_find(&setting->target, finding->argv[0], err);
	if (result < 0) {
		memory_view_release(&setting->memory);
		settings_release(&setting->settings);
		return result;
	}
	setting->names = array_new(finding->schedule.thread_count + 1, sizeof *setting->names);
	for (uint32_t i = 0; i < finding->schedule.thread_count; i++)
		setting->names[i] = finding->schedule.threads[i].name;
	setting->plan = (struct probe_plan){
		.mode = REPLAY_EXACT,
		.segments = finding->schedule.segments,
		.segment_count = finding->schedule.segment_count,
		.names = setting->names,
		.name_count = finding->schedule.thread_count,
	};
	setting->probe = (struct probe_params){
		.worker =
			{
				.target = &setting->target,
				.argv = finding->argv,
				.input = setting->settings.input,
				.runtime = options->runtime,
				.output = options->is_quiet ? OUTPUT_KEEP : OUTPUT_SHOW,
			},
		.settings = &setting->settings,
		.memory = &setting->memory,
		.restart = RESTART_EXEC,
		.is_interrupted = options->is_interrupted,
	};
	return 0;
}

void replay_setting_release(struct replay_setting *setting)
{
	free(setting->names);
	target_release(&setting->target);
	settings_release(&setting->settings);
	memory_view_release(&setting->memory);
}

static int replay_run_once(struct probe *probe, const struct replay_setting *setting,
	const struct replay_options *options, struct replay_result *out, struct error *err)
{
	int result;

	if (options->is_traced)
		result = investigate_trace(
			probe, &setting->plan, REPLAY_STEPS_MAX, &out->traced, err);
	else
		result = probe_run(probe, &setting->plan, err);
	if (result < 0)
		return result;
	out->outcome = probe->worker.contract->outcome;
	out->is_failure = probe->is_failure;
	out->has_diverged = probe->has_diverged;
	out->diverged_step = probe->diverged_step;
	return 0;
}

int replay_finding(const struct finding *finding, const struct replay_options *options,
	struct replay_result *out, struct error *err)
{
	struct replay_setting setting;
	struct probe probe;
	int result = replay_prepare(&setting, finding, options, err);

	memset(out, 0, sizeof *out);
	if (result < 0)
		return result;
	out->memory_model = setting.settings.memory_model;
	if (options->is_traced)
		setting.probe.trace_events = trace_window_events(finding->schedule.step_count);
	result = probe_open(&probe, &setting.probe, err);
	if (result == 0) {
		result = replay_run_once(&probe, &setting, options, out, err);
		probe_close(&probe);
		children_kill_strays();
	}
	if (result == 0)
		out->is_same = out->is_failure && out->outcome.kind == finding->kind &&
			       out->outcome.code == finding->code;
	replay_setting_release(&setting);
	return result;
}
