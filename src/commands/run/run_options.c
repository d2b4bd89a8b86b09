#include "commands/run/run_options.h"

#include <string.h>

#include "commands/run/run_arguments.h"
#include "model/memory/layout.h"
#include "plan/restart.h"

int run_options_read_restart(const char *text, void *options, struct error *err)
{
	struct campaign_options *campaign = options;

	campaign->is_restart_forced = true;
	if (restart_parse(text, &campaign->restart))
		return 0;
	return error_set(err, ERROR_USAGE,
		"--restart is rewind, fork_create, fork_main or exec, not %s", text);
}

int run_options_read_stalls(const char *text, void *limit, struct error *err)
{
	uint64_t *limit_ns = limit;

	*limit_ns = strcmp(text, "any") == 0 ? STALL_ANY : 0;
	if (*limit_ns || strcmp(text, "never") == 0 || duration_parse(text, limit_ns))
		return 0;
	return error_set(
		err, ERROR_USAGE, "--stalls is never, any or a time such as 2s, not %s", text);
}

int run_options_read_layout(const char *text, void *settings, struct error *err)
{
	struct settings *to = settings;
	uint64_t number = 0;

	to->has_fixed_layout = strcmp(text, "varied") != 0;
	if (to->has_fixed_layout && !number_parse(text, 0, LAYOUT_MAX, &number))
		return error_set(err, ERROR_USAGE,
			"--layout is varied or a number up to %u, not %s", LAYOUT_MAX, text);
	to->layout = (uint32_t)number;
	return 0;
}

int run_options_read_fail_on(const char *text, void *settings, struct error *err)
{
	return settings_parse_fail_on(text, settings, err);
}

int run_options_read_shard(const char *text, void *shard, struct error *err)
{
	struct run_shard *to = shard;
	const char *slash = strchr(text, '/');
	char first[24] = "";
	uint64_t number = 0, count = 0;

	if (slash && slash - text < (ptrdiff_t)sizeof first)
		memcpy(first, text, (size_t)(slash - text));
	if (!slash || !number_parse(first, 1, FINDING_SHARDS_MAX, &number) ||
		!number_parse(slash + 1, 1, FINDING_SHARDS_MAX, &count) || number > count)
		return error_set(err, ERROR_USAGE,
			"--shard is I/N, such as 2/8, the second of eight parts; not %s", text);
	*to = (struct run_shard){(uint32_t)number, (uint32_t)count};
	return 0;
}

const struct command_option run_options[] = {
	OPTION_HEADING("What to explore:"),
#include "commands/run/strategy_options.def"
	{"schedules", 0, "N", "End after N schedules (no limit)",
		OPTION_NUMBER(run_arguments, options.schedules, 1, UINT64_MAX / 2)},
	{"time", 0, "TIME", "End after this time, such as 500ms, 30s, 10m; 0: no limit (60s)",
		OPTION_OF(LIMIT, run_arguments, options.time_ns)},
	{"jobs", 'j', "N",
		"Number of workers that run schedules in parallel; the result does not depend on it (all cores)",
		OPTION_NUMBER(run_arguments, options.workers, 1, 128)},
	{"keep-going", 'k', NULL, "Collect distinct failures until the budget ends",
		OPTION_OF(FLAG, run_arguments, options.keep_going)},
	{"bounds", 0, "c=N,v=N,t=N[,l=N][,w=N]",
		"Exhaustive search of the schedules with at most c preemptions, at accesses to v variables, in orders of t threads (strategy bounded). l: of the blocks that one call stack allocates only the first N. w, also alone and with every strategy: runs of --memory-model tso and c11 with at most N weak choices",
		OPTION_OF(TEXT, run_arguments, bounds)},
	{"shard", 0, "I/N",
		"Execute only part I of N of the schedules, independently of the other parts, which run on other machines or in other jobs; raddle merge combines their stores",
		OPTION_READ(run_arguments, shard, run_options_read_shard)},
	{"mpi", 0, NULL,
		"One campaign on all ranks that mpirun has started: rank 0 distributes the schedules and keeps the store, the other ranks execute them (docs/scaling.md)",
		OPTION_OF(FLAG, run_arguments, is_mpi)},
	{"silence", 0, "TIME",
		"With --mpi: a rank that sends nothing for this time loses its schedules to another rank (30s)",
		OPTION_OF(LIMIT, run_arguments, silent_ns)},
	{"resume", 0, NULL,
		"Continue this campaign after the schedules that the store has recorded: same program, strategy, seed and settings",
		OPTION_OF(FLAG, run_arguments, options.resumes)},
	{"follow-children", 0, "PATTERN",
		"PROGRAM is a test runner: run it once, natively, and explore each program that it starts and that creates threads. PATTERN: only programs with such a path or name (all but the system's)",
		OPTION_OF(OPTIONAL_TEXT, run_arguments, followed)},
	{"like", 0, "FILE",
		"Drive the two accesses of the data race that ThreadSanitizer reported in FILE to meet; only this race is one then. PROGRAM is the build that made the report",
		OPTION_OF(TEXT, run_arguments, like)},
#include "commands/run/settings_options.def"
	OPTION_HEADING("Output and store:"),
	{"output", 0, "hide|show", "Output of the runs (hide)",
		OPTION_OF(CHOICE, run_arguments, options.show_output)},
	{"json", 0, NULL, "Results as JSON on standard output",
		OPTION_OF(FLAG, run_arguments, is_json)},
	{"quiet", 'q', NULL, "Only findings, and the output of a program that makes no thread",
		OPTION_OF(FLAG, run_arguments, is_quiet)},
	{"no-minimise", 0, NULL, "Keep the schedule as found",
		OPTION_OF(FLAG, run_arguments, options.without_minimising)},
	{"store", 0, "DIR", "Keep findings in DIR/.raddle (.)",
		OPTION_OF(TEXT, run_arguments, store)},
	{"store-limit", 0, "MB",
		"Above this size of the store, keep further findings without their traces (no limit)",
		OPTION_MEGABYTES(run_arguments, options.store_bytes, 1, UINT64_MAX >> 20)},
	{0},
};
