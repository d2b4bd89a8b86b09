#include "cli/verdict.h"

#include <stdio.h>

#include "base/text.h"
#include "model/feature.h"
#include "plan/settings.h"

/* Prints "1,204 runs; probability that an order was missed ≤ 1e-6". */
static void verdict_say_runs_of(const struct strategy_verdict *verdict)
{
	const uint64_t needed = verdict->runs - verdict->redundant;
	char runs[32];
	int power = 0;

	(void)fprintf(stderr, "%s run%s", text_grouped(needed, runs), needed == 1 ? "" : "s");
	if (verdict->redundant)
		(void)fprintf(stderr, " and %s redundant", text_grouped(verdict->redundant, runs));
	for (double missed = verdict->missed; missed > 0 && missed < 0.9; missed *= 10)
		power++;
	if (power)
		(void)fprintf(stderr, "; probability that an order was missed ≤ 1e-%d", power);
}

const char *verdict_restriction(uint32_t features)
{
	const char *text = features_first_text(features, OMITS_EXECUTIONS);

	return text ? text : "";
}

void verdict_add_exceptions(struct strbuf *out, bool is_up_to_order, uint32_t features)
{
	const char *parts[1 + FEATURE_COUNT];
	unsigned count = 0;

	if (is_up_to_order)
		parts[count++] = "the order of independent operations";
	for (uint32_t i = 0; i < FEATURE_COUNT; i++)
		if (features & 1u << i && feature_descriptions[i].omission == OMITS_ORDERS)
			parts[count++] = feature_descriptions[i].text;
	for (unsigned i = 0; i < count; i++) {
		strbuf_adds(out, i == 0 ? ", up to " : i + 1 == count ? " and " : ", ");
		strbuf_adds(out, parts[i]);
	}
}

/* Prints "none fails", or "no execution under C11 fails". */
static void verdict_say_result(
	const struct strategy_verdict *verdict, bool has_failed, const char *model)
{
	if (!model)
		(void)fputs(has_failed ? "some fail" : "none fails", stderr);
	else if (has_failed)
		(void)fprintf(stderr, "some fail under %s", model);
	else
		(void)fprintf(stderr, "no execution under %s%s fails", model,
			verdict_restriction(verdict->features));
}

/* Prints a claim about the schedules within the scope; it covers the equivalent schedules, too. */
static void verdict_say_scope(
	const struct strategy_verdict *verdict, bool has_failed, const char *model)
{
	STRBUF_SCOPED exceptions = STRBUF_EMPTY;

	verdict_add_exceptions(&exceptions, false, verdict->features);
	if (has_failed) {
		(void)fprintf(stderr, "%s all schedules %s%s: ",
			verdict->is_complete ? "these are" : "among these are", verdict->scope,
			exceptions.text);
		verdict_say_result(verdict, true, model);
		(void)fputc('\n', stderr);
	} else {
		(void)fprintf(stderr, "no failure in any schedule %s%s%s%s%s (", verdict->scope,
			model ? " under " : "", model ? model : "",
			verdict_restriction(verdict->features), exceptions.text);
		verdict_say_runs_of(verdict);
		(void)fprintf(stderr, ")%s\n", verdict->is_complete ? "" : "; and more ran");
	}
}

static void verdict_say_all(
	const struct strategy_verdict *verdict, bool has_failed, const char *model)
{
	STRBUF_SCOPED exceptions = STRBUF_EMPTY;

	verdict_add_exceptions(&exceptions, verdict->is_up_to_order, verdict->features);
	(void)fprintf(stderr, "these are all schedules%s", exceptions.text);
	if (verdict->exchange[0])
		(void)fprintf(stderr, " and up to exchanging %s", verdict->exchange);
	(void)fputs(": ", stderr);
	verdict_say_result(verdict, has_failed, model);
	(void)fputs(" in ", stderr);
	verdict_say_runs_of(verdict);
	(void)fputc('\n', stderr);
}

void verdict_say(const struct strategy_verdict *verdict, bool has_failed, const char *model,
	const char *prefix)
{
	if (!verdict->scope[0] && !verdict->is_complete && !verdict->missing && has_failed)
		return; /* the line is complete */
	(void)fputs(prefix, stderr);
	if (verdict->scope[0])
		verdict_say_scope(verdict, has_failed, model);
	else if (verdict->is_complete)
		verdict_say_all(verdict, has_failed, model);
	else if (verdict->missing)
		(void)fprintf(stderr, "these are not all schedules: %s\n", verdict->missing);
	else
		(void)fputs(
			"these are not all schedules; more of them with --schedules or --time\n",
			stderr);
	if (verdict->asymmetry)
		(void)fprintf(
			stderr, "%ssymmetry=on has no effect: %s\n", prefix, verdict->asymmetry);
}

void verdict_say_model_without_sites(
	enum memory_model model, enum memory_model judged, bool has_memory_sites)
{
	if (judged && !has_memory_sites)
		(void)fputs(
			"note: raddle sees no stores of the program; build it with raddle-cc for --fail-on weak\n",
			stderr);
	if (model && !has_memory_sites)
		(void)fprintf(stderr,
			"note: --memory-model %s has no effect, because raddle sees no stores of the program; build it with raddle-cc\n",
			memory_model_words[model]);
}
