#include "commands/run/run_verdict.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/verdict.h"

#define NUMBERS_MOST 1e9 /* larger numbers are written as powers of ten */
#define SHARE_LEAST 0.01

/* Two standard errors, as a part of the number. */
static double run_verdict_error(const struct campaign_orders *orders)
{
	return 2 * sqrt(orders->variance) / orders->count;
}

static void run_verdict_format_number(double number, char *text, size_t size)
{
	char digits[32];

	if (number < NUMBERS_MOST)
		(void)snprintf(
			text, size, "%s", text_grouped((unsigned long long)(number + 0.5), digits));
	else
		(void)snprintf(text, size, "%.1e", number);
}

static void run_verdict_format_time(double seconds, char *text, size_t size)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {
		{"year", 31557600}, {"day", 86400}, {"hour", 3600}, {"minute", 60}, {"second", 1}};
	const size_t count = sizeof units / sizeof *units;
	char number[64];
	size_t unit = 0;

	while (unit + 1 < count && seconds < 2 * units[unit].seconds)
		unit++;
	run_verdict_format_number(ceil(seconds / units[unit].seconds), number, sizeof number);
	(void)snprintf(text, size, "%s %s%s", number, units[unit].unit,
		seconds <= units[unit].seconds ? "" : "s");
}

static void run_verdict_print_orders(const struct campaign_orders *orders)
{
	const double share = orders->count > 0 ? (double)orders->executed / orders->count : 0;
	const double error = run_verdict_error(orders);
	char count[64], duration[80];

	if (orders->has_failure)
		(void)fputs(
			"a sampled order fails: raddle run --strategy estimate finds it\n", stderr);
	if (orders->count <= 0)
		return;
	run_verdict_format_number(orders->count, count, sizeof count);
	run_verdict_format_time(orders->seconds, duration, sizeof duration);
	if (isinf(error))
		(void)fprintf(stderr,
			"there are about %s orders, or many more: the sampled orders differ too much for an error; --strategy dpor would need about %s, or longer\n",
			count, duration);
	else if (!orders->is_search)
		(void)fprintf(stderr,
			"there are about %s orders (± %.0f %%); --strategy dpor would execute all in about %s\n",
			count, ceil(100 * error), duration);
	else if (share < SHARE_LEAST)
		(void)fprintf(stderr,
			"less than 1 %% of about %s orders (± %.0f %%) were executed; the others need about %s\n",
			count, ceil(100 * error), duration);
	else
		(void)fprintf(stderr,
			"%.0f %% ± %.0f %% of about %s orders were executed; the others need about %s\n",
			100 * share, ceil(100 * share * error), count, duration);
}

/* A search reports its scope instead. A campaign that ends at its first failure was short. */
bool run_verdict_has_pairs(
	const struct campaign_options *options, const struct campaign_result *result)
{
	return result->pairs && (!result->total.findings || options->keep_going);
}

static void run_verdict_print_pairs(
	const struct campaign_options *options, const struct campaign_result *result)
{
	char both[32], pairs[32];

	if (!run_verdict_has_pairs(options, result) || result->verdict.is_complete ||
		strategies[options->strategy]->search.is_exhausted)
		return;
	(void)fprintf(stderr, "conflicting pairs seen in both orders: %s of %s\n",
		text_grouped(result->pairs_in_both_orders, both),
		text_grouped(result->pairs, pairs));
}

/* A search of all schedules without a weak access proves robustness (docs/memory-model.md). */
static void run_verdict_print_robust(
	const struct campaign_options *options, const struct campaign_result *result)
{
	const struct races *races = &options->settings.races;

	STRBUF_SCOPED exceptions = STRBUF_EMPTY;

	if (!races->weak || options->shards > 1 || !result->verdict.is_complete ||
		result->verdict.scope[0] || result->total.failures || races->ignored_count)
		return;
	verdict_add_exceptions(&exceptions, false, result->verdict.features);
	(void)fprintf(stderr,
		"the program is robust: with this input, each execution under %s%s%s is sequentially consistent\n",
		memory_model_titles[races->weak],
		races->weak == MEMORY_MODEL_C11 ? verdict_restriction(result->verdict.features)
						: "",
		exceptions.text);
}

void run_verdict_print(const struct campaign_options *options, const struct campaign_result *result,
	bool is_unmodified)
{
	const enum memory_model model = options->settings.memory_model;
	char prefix[64] = "";
	/* A failure of the runs beside a search need not be one of the search's runs. */
	const bool is_beside = !strategies[options->strategy]->search.is_exhausted;

	if (options->shards > 1)
		(void)snprintf(
			prefix, sizeof prefix, "of shard %u/%u: ", options->shard, options->shards);
	if (result->has_verdict && !result->verdict.refusal[0] &&
		!(is_beside && result->total.failures))
		verdict_say(&result->verdict, result->total.failures,
			/* raddle applies a memory model to instrumented stores only. */
			model && !is_unmodified ? memory_model_titles[model] : NULL, prefix);
	if (result->has_verdict && !is_unmodified)
		run_verdict_print_robust(options, result);
	run_verdict_print_orders(&result->orders);
	run_verdict_print_pairs(options, result);
}

void run_verdict_print_json_orders(const struct campaign_orders *orders)
{
	const double error = run_verdict_error(orders);
	char text[32] = "null";

	if (orders->count <= 0)
		return;
	if (!isinf(error))
		(void)snprintf(text, sizeof text, "%.3g", error);
	(void)printf(
		"\"orders\":{\"estimate\":%.6g,\"error\":%s,\"descents\":%llu,\"executed\":%llu,\"seconds_left\":%.3g},",
		orders->count, text, (unsigned long long)orders->descents,
		(unsigned long long)orders->executed, orders->seconds);
}
