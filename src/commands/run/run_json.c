#include <stdio.h>

#include "model/feature.h"
#include "plan/restart.h"
#include "plan/strategy_option.h"
#include "commands/run/run_report.h"
#include "commands/run/run_verdict.h"

/* Prints the words of the features that leave out schedules. */
static void run_json_print_features(uint32_t features)
{
	const char *before = "[";

	for (uint32_t i = 0; i < FEATURE_COUNT; i++) {
		if (!(features & 1u << i) || feature_descriptions[i].omission == OMITS_NOTHING)
			continue;
		(void)printf("%s\"%s\"", before, feature_descriptions[i].word);
		before = ",";
	}
	(void)printf("%s]", *before == '[' ? before : "");
}

static void run_json_print_json_promise(const struct campaign_result *result)
{
	const struct strategy_guarantee *guarantee = &result->guarantee;
	const struct strategy_verdict *verdict = &result->verdict;

	if (guarantee->probability > 0)
		(void)printf(
			"\"guarantee\":{\"depth\":%u,\"formula\":\"%s%s\",\"probability\":%.6g,\"n\":%u,\"k\":%llu,\"r\":%llu,\"v\":%u,"
			"\"m\":%u,\"t\":%u},",
			guarantee->depth, guarantee->stall_factor, guarantee->formula,
			guarantee->probability, guarantee->threads,
			(unsigned long long)guarantee->steps, (unsigned long long)guarantee->radius,
			guarantee->variables, guarantee->variable_total, guarantee->order_threads);
	if (result->has_verdict && !verdict->refusal[0]) {
		(void)printf(
			"\"verdict\":{\"complete\":%s,\"scope\":\"%s\",\"runs\":%llu,"
			"\"redundant\":%llu,\"missed\":%.6g,\"exchange\":\"%s\",\"leaves_out\":",
			verdict->is_complete ? "true" : "false", verdict->scope,
			(unsigned long long)verdict->runs, (unsigned long long)verdict->redundant,
			verdict->missed, verdict->exchange);
		run_json_print_features(verdict->features);
		(void)printf("},");
	}
	run_verdict_print_json_orders(&result->orders);
}

void run_report_print_json(const struct run_report *report, const struct campaign_result *result)
{
	char strategy[256];

	strategy_format(report->options->strategy, &report->options->strategy_config, strategy,
		sizeof strategy);
	(void)printf("{\"campaign\":%lld,\"strategy\":\"%s\",\"seed\":%llu,\"restart\":\"%s\","
		     "\"schedules\":%llu,\"failures\":%llu,\"steps\":%llu,\"seconds\":%.3f,"
		     "\"interrupted\":%s,\"races\":%u,\"races_suppressed\":%u,"
		     "\"checkpoints\":%llu,\"resumed\":%llu,\"digest\":\"%016llx\",\"made\":%llu,",
		(long long)result->campaign, strategy, (unsigned long long)report->options->seed,
		restart_descriptions[result->restart].word, (unsigned long long)result->total.runs,
		(unsigned long long)result->total.failures, (unsigned long long)result->total.steps,
		(double)result->total.elapsed_ns / 1e9, result->is_interrupted ? "true" : "false",
		result->races, result->races_suppressed, (unsigned long long)result->checkpoints,
		(unsigned long long)result->runs_resumed, (unsigned long long)result->digest,
		(unsigned long long)(result->runs_made ? result->runs_made : result->total.runs));
	if (run_verdict_has_pairs(report->options, result))
		(void)printf("\"pairs\":{\"seen\":%u,\"in_both_orders\":%u},", result->pairs,
			result->pairs_in_both_orders);
	run_json_print_json_promise(result);
	(void)printf("\"findings\":[%s]}\n", report->findings.text);
}
