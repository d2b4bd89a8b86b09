/* Result of explain_find_orders() in words and as JSON. */
#include "commands/explain/explain_orders_words.h"

#include "base/text.h"
#include "cli/verdict.h"
#include "commands/explain/explain_result.h"
#include "plan/settings.h"
#include "report/json_value.h"

static const char *const orders_names[] = {
	[ORDER_RELAXED] = "memory_order_relaxed",
	[ORDER_CONSUME] = "memory_order_consume",
	[ORDER_ACQUIRE] = "memory_order_acquire",
	[ORDER_RELEASE] = "memory_order_release",
	[ORDER_ACQUIRE_RELEASE] = "memory_order_acq_rel",
	[ORDER_SEQUENTIAL] = "memory_order_seq_cst",
};

static const char *explain_orders_words_noun(const struct orders_location *location)
{
	switch (location->kind) {
	case OP_LOAD:
	case OP_ATOMIC_LOAD:
		return "load";
	case OP_STORE:
	case OP_ATOMIC_STORE:
		return "store";
	default:
		return "update";
	}
}

static const struct explain_location *explain_orders_words_location(
	const struct explain_result *result, const struct orders_change *change)
{
	return explain_site(result->explain, result->orders.locations[change->location].sites[0]);
}

static void explain_orders_words_add_change(
	struct strbuf *out, const struct explain_result *result, const struct orders_change *change)
{
	strbuf_addf(out,
		change->is_fence ? "atomic_thread_fence(%s) directly before the %s at "
				 : "%s for the %s at ",
		orders_names[change->order],
		explain_orders_words_noun(&result->orders.locations[change->location]));
	explain_add_location(out, explain_orders_words_location(result, change));
}

static void explain_orders_words_add_repair(
	struct strbuf *out, const struct explain_result *result, const struct orders_repair *repair)
{
	char runs[32];

	strbuf_adds(out, "   ");
	for (uint32_t i = 0; i < repair->count; i++) {
		strbuf_adds(out, !i ? "" : i + 1 == repair->count ? " and " : ", ");
		explain_orders_words_add_change(out, result, &repair->changes[i]);
	}
	strbuf_addf(out, repair->count > 1 ? " suffice together: " : " suffices: ");
	(void)text_grouped(repair->runs, runs);
	if (repair->is_exhaustive) {
		strbuf_addf(out, "no execution under %s%s",
			memory_model_titles[result->orders.model],
			verdict_restriction(repair->features));
		verdict_add_exceptions(out, false, repair->features);
		strbuf_addf(out, " fails (%s executions)\n", runs);
	} else
		strbuf_addf(out, "none of %s runs fails\n", runs);
}

static void explain_orders_words_add_failing(
	struct strbuf *out, const struct explain_result *result)
{
	const struct explain_orders *orders = &result->orders;

	if (!orders->failing_count)
		return;
	strbuf_addf(out, "   %s does not suffice%s for the ", orders_names[ORDER_SEQUENTIAL],
		orders->failing_count > 1 ? " alone" : "");
	for (uint32_t i = 0; i < orders->failing_count; i++) {
		const struct orders_change *change = &orders->failing[i];

		strbuf_addf(out, "%s%s at ", i ? ", the " : "",
			explain_orders_words_noun(&orders->locations[change->location]));
		explain_add_location(out, explain_orders_words_location(result, change));
	}
	strbuf_adds(out, "\n");
}

void explain_add_orders(struct strbuf *out, const struct explain_result *result)
{
	const struct explain_orders *orders = &result->orders;

	if (orders->model == MEMORY_MODEL_SC)
		return;
	strbuf_adds(out, "\nstronger memory orders, tried in runs of the program:\n");
	if (!orders->is_repeatable) {
		strbuf_adds(
			out, "   not tried: random runs fail too seldom without a change, too\n");
		return;
	}
	for (uint32_t i = 0; i < orders->repair_count; i++)
		explain_orders_words_add_repair(out, result, &orders->repairs[i]);
	explain_orders_words_add_failing(out, result);
	if (orders->is_hopeless)
		strbuf_adds(out,
			"   nothing suffices: runs fail with memory_order_seq_cst, and with fences, at all of these accesses\n");
	if (orders->is_unfinished)
		strbuf_adds(out,
			"   the time was up before all changes were tried; give more with --time\n");
}

static json_t *explain_orders_words_change_to_json(
	const struct explain_result *result, const struct orders_change *change)
{
	const struct explain_location *location = explain_orders_words_location(result, change);
	json_t *out = json_pack("{s:s, s:s, s:b, s:i}", "order", orders_names[change->order],
		"access", explain_orders_words_noun(&result->orders.locations[change->location]),
		"is_fence", change->is_fence, "line", (int)location->line);

	json_put(out, "file", json_text(location->file));
	return out;
}

json_t *explain_orders_to_json(const struct explain_result *result)
{
	const struct explain_orders *orders = &result->orders;
	json_t *repairs = json_array(), *failing = json_array();

	for (uint32_t i = 0; i < orders->repair_count; i++) {
		const struct orders_repair *repair = &orders->repairs[i];
		json_t *changes = json_array();

		for (uint32_t j = 0; j < repair->count; j++)
			json_append(changes,
				explain_orders_words_change_to_json(result, &repair->changes[j]));
		json_append(repairs,
			json_pack("{s:o, s:I, s:b}", "changes", changes, "runs",
				(json_int_t)repair->runs, "is_exhaustive", repair->is_exhaustive));
	}
	for (uint32_t i = 0; i < orders->failing_count; i++)
		json_append(
			failing, explain_orders_words_change_to_json(result, &orders->failing[i]));
	return json_pack("{s:s, s:b, s:b, s:o, s:o}", "memory_model",
		memory_model_words[orders->model], "is_repeatable", orders->is_repeatable,
		"is_unfinished", orders->is_unfinished, "repairs", repairs, "insufficient",
		failing);
}
