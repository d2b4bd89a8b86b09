#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "commands/explain/runs/explain_internal.h"
#include "investigate/investigate.h"
#include "investigate/trace_window.h"
#include "detectors/patterns.h"

/* Limit on the steps of an interleaving that are described. */
#define SHOWN_STEPS_MAX 200000

static void explain_show_release_kept(struct explain_kept *kept)
{
	failure_release(&kept->run);
	free(kept->patterns);
	*kept = (struct explain_kept){0};
}

void explain_forget(struct explain *explain)
{
	for (unsigned verdict = 0; verdict < EXPLAIN_OTHER; verdict++) {
		for (uint32_t i = 0; i < explain->kept_count[verdict]; i++)
			explain_show_release_kept(&explain->kept[verdict][i]);
		explain->kept_count[verdict] = 0;
	}
}

void explain_keep(struct explain *explain, const struct explain_run *run)
{
	const struct schedule *schedule = contract_schedule(explain->made->worker.contract);
	struct explain_kept *kept;

	if (run->verdict == EXPLAIN_OTHER ||
		explain->kept_count[run->verdict] == EXPLAIN_KEPT_MAX || schedule->is_truncated ||
		schedule->count > EXPLAIN_KEPT_SEGMENTS)
		return;
	kept = &explain->kept[run->verdict][explain->kept_count[run->verdict]++];
	failure_take(&kept->run, explain->made->worker.contract);
	kept->pattern_count = run->pattern_count;
	kept->patterns = array_new(run->pattern_count + 1, sizeof *kept->patterns);
	for (uint32_t i = 0; i < run->pattern_count; i++) {
		kept->patterns[i].key = run->patterns[i].key;
		memcpy(kept->patterns[i].names, run->patterns[i].names,
			sizeof kept->patterns[i].names);
	}
	qsort(kept->patterns, kept->pattern_count, sizeof *kept->patterns, compare_numbers);
}

void explain_shown_release(struct explain_shown *shown)
{
	finding_release(&shown->run);
	free(shown->patterns);
	*shown = (struct explain_shown){0};
}

/* stands for any pattern */
#define ANY_KEY 0

static bool explain_show_is_wanted(const struct explain *explain, const struct probe *probe,
	enum explain_verdict verdict, const struct explain_shown *shown, uint64_t key)
{
	const struct outcome *outcome = &probe->worker.contract->outcome;

	if (verdict == EXPLAIN_PASSED)
		return !probe->is_failure &&
		       !patterns_have(shown->patterns, shown->pattern_count, key);
	return probe->is_failure && outcome->kind == explain->finding->kind &&
	       outcome->code == explain->finding->code &&
	       (key == ANY_KEY || patterns_have(shown->patterns, shown->pattern_count, key));
}

/* Repeats the run in a process of its own. Returns false if the run is not as wanted. */
static bool explain_show_repeat(struct explain *explain, const struct probe_params *params,
	const struct probe_plan *plan, enum explain_verdict verdict, uint64_t key,
	struct explain_shown *out)
{
	/* A caller that accepts any pattern only reads which patterns the run has, not its steps. */
	const uint32_t steps_most = key == ANY_KEY ? 1 : SHOWN_STEPS_MAX;
	const struct pattern *patterns;
	struct probe probe;
	bool is_good = false;

	*out = (struct explain_shown){0};
	if (probe_open(&probe, params, NULL) < 0)
		return false;
	if (investigate_trace(&probe, plan, steps_most, &out->run, NULL) == 0) {
		out->pattern_count = patterns_of_run(probe_patterns(&probe), &patterns);
		out->patterns = array_new(out->pattern_count + 1, sizeof *out->patterns);
		explain_location_patterns(explain, patterns, out->pattern_count, out->patterns);
		is_good = explain_show_is_wanted(explain, &probe, verdict, out, key);
	}
	probe_close(&probe);
	if (!is_good)
		explain_shown_release(out);
	return is_good;
}

static const struct explain_kept_pattern *explain_show_find_key(
	const struct explain_kept *kept, uint64_t key)
{
	const struct explain_kept_pattern wanted = {.key = key};

	return bsearch(
		&wanted, kept->patterns, kept->pattern_count, sizeof wanted, compare_numbers);
}

static const struct explain_kept *explain_show_best_kept(
	const struct explain *explain, enum explain_verdict verdict, uint64_t key)
{
	const struct explain_kept *best = NULL;

	for (uint32_t i = 0; i < explain->kept_count[verdict]; i++) {
		const struct explain_kept *kept = &explain->kept[verdict][i];

		if ((explain_show_find_key(kept, key) != NULL) == (verdict == EXPLAIN_FAILED) &&
			(!best || kept->run.switches < best->run.switches))
			best = kept;
	}
	return best;
}

/* Counts the kept runs in which the pattern occurs first between these threads; NULL means any. */
static uint32_t explain_show_count_kept(const struct explain *explain, enum explain_verdict verdict,
	uint64_t key, const thread_name *names)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < explain->kept_count[verdict]; i++) {
		const struct explain_kept_pattern *pattern =
			explain_show_find_key(&explain->kept[verdict][i], key);

		count += pattern &&
			 (!names || !memcmp(names, pattern->names, sizeof pattern->names));
	}
	return count;
}

static double explain_show_kept_score(
	const struct explain *explain, uint64_t key, const thread_name *names)
{
	return (double)explain_show_count_kept(explain, EXPLAIN_FAILED, key, names) /
	       (explain->kept_count[EXPLAIN_FAILED] +
		       explain_show_count_kept(explain, EXPLAIN_PASSED, key, names));
}

bool explain_find_threads(const struct explain *explain, uint64_t key, thread_name *names)
{
	double best = explain_show_kept_score(explain, key, NULL);
	bool is_found = false;

	for (uint32_t i = 0; i < explain->kept_count[EXPLAIN_FAILED]; i++) {
		const struct explain_kept_pattern *pattern =
			explain_show_find_key(&explain->kept[EXPLAIN_FAILED][i], key);
		double score;

		if (!pattern)
			continue;
		score = explain_show_kept_score(explain, key, pattern->names);
		if (score < best || (is_found && score == best))
			continue;
		best = score;
		is_found = true;
		memcpy(names, pattern->names, sizeof pattern->names);
	}
	return is_found;
}

static struct probe_params explain_show_params(const struct explain *explain)
{
	const uint64_t limit = explain->setting.settings.step_limit;
	const uint64_t steps = explain->finding->schedule.step_count;
	struct probe_params params = explain->setting.probe;

	params.worker.output = OUTPUT_KEEP;
	params.has_patterns = true;
	params.pattern_window = explain->options->window;
	params.has_orders = explain->has_orders;
	/* The trace of an endless loop is cut where the loop is evident. */
	params.trace_events = trace_window_events(steps < limit ? steps : limit);
	return params;
}

bool explain_own_run(struct explain *explain, struct explain_shown *out)
{
	const struct probe_params params = explain_show_params(explain);

	explain_runs_drop(explain);
	return explain_show_repeat(
		explain, &params, &explain->setting.plan, EXPLAIN_FAILED, ANY_KEY, out);
}

bool explain_show(struct explain *explain, enum explain_verdict verdict, uint64_t key,
	struct explain_shown *out)
{
	const struct explain_kept *kept = explain_show_best_kept(explain, verdict, key);
	struct probe_params params = explain_show_params(explain);
	struct probe_plan plan;

	/* other processes of the program could disturb the replay */
	explain_runs_drop(explain);
	/* The finding's own schedule is minimised and therefore preferred. */
	if (verdict == EXPLAIN_FAILED &&
		explain_show_repeat(explain, &params, &explain->setting.plan, verdict, key, out))
		return true;
	if (!kept)
		return false;
	plan = probe_plan_exact(&kept->run);
	params.memory = &explain->memory;
	params.trace_events = trace_window_events(kept->run.step_count);
	return explain_show_repeat(explain, &params, &plan, verdict, key, out);
}
