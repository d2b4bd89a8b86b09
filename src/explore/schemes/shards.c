#include "explore/schemes/shards.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/hash.h"
#include "base/starts_with.h"
#include "explore/services.h"
#include "explore/schemes/tasks.h"
#include "model/feature.h"

static void shards_put(json_t *object, const char *key, json_t *value)
{
	BUG_ON(json_object_set_new(object, key, value));
}

/* Stores the number as text, because a JSON number may lose precision. */
static void shards_put_number(json_t *object, const char *key, uint64_t number)
{
	char text[32];

	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)number); /* fits */
	shards_put(object, key, json_string(text));
}

static json_t *shards_plans_of(const struct strategy_verdict *verdict)
{
	json_t *list = json_array();

	BUG_ON(!list);
	for (uint32_t i = 0; i < STRATEGY_PLANS; i++) {
		char text[32];

		(void)snprintf(text, sizeof text, "%llx",
			(unsigned long long)verdict->plans[i]); /* fits */
		BUG_ON(json_array_append_new(list, json_string(text)));
	}
	return list;
}

/* Returns the words of the features that leave out schedules. */
static json_t *shards_words_of(uint32_t features)
{
	json_t *list = json_array();

	BUG_ON(!list);
	for (uint32_t i = 0; i < FEATURE_COUNT; i++)
		if (features & 1u << i && feature_descriptions[i].omission != OMITS_NOTHING)
			BUG_ON(json_array_append_new(
				list, json_string(feature_descriptions[i].word)));
	return list;
}

/* Stores the shard, and the verdict unless `memory` (the shared memory of the last run) is NULL. */
static int shards_keep(
	struct campaign *campaign, const struct memory_view *memory, struct error *err)
{
	const struct campaign_options *options = campaign->options;
	const struct strategy_verdict *verdict = &campaign->result->verdict;
	struct store_document document = {
		.kind = (char *)(uintptr_t)STORE_VERDICT, .campaign = campaign->row.id};
	json_auto_t *object = json_object();
	int status;

	BUG_ON(!object);
	shards_put(object, "shard", json_integer(options->shards ? options->shard : 1));
	shards_put(object, "shards", json_integer(options->shards ? options->shards : 1));
	if (memory) {
		shards_put(object, "complete", json_boolean(verdict->is_complete));
		shards_put(object, "up_to_order", json_boolean(verdict->is_up_to_order));
		shards_put(object, "scope", json_string(verdict->scope));
		shards_put(object, "exchange", json_string(verdict->exchange));
		shards_put(object, "missing",
			verdict->missing ? json_string(verdict->missing) : json_null());
		shards_put(object, "leaves_out", shards_words_of(verdict->features));
		if (campaign->workers[0].worker.contract->has_memory_sites)
			shards_put(object, "model",
				json_string(memory_model_words[options->settings.memory_model]));
		shards_put_number(object, "scope_order", verdict->scope_order);
		shards_put_number(object, "runs", verdict->runs);
		shards_put_number(object, "redundant", verdict->redundant);
		shards_put(object, "missed", json_real(verdict->missed));
		shards_put(object, "plans", shards_plans_of(verdict));
		shards_put_number(object, "memory",
			hash_bytes(memory->points, memory->point_count * sizeof *memory->points));
	}
	document.text = json_dumps(object, JSON_COMPACT);
	BUG_ON(!document.text);
	status = store_keep_document(campaign->store, &document, err);
	free(document.text);
	return status;
}

#define PROCESSES_DIFFER                                                                           \
	"two workers made different runs with the same first schedule; the "                       \
	"program behaves differently in each process (files, locks on them, process ids?)"

/* Reduces the verdict: it covers only a part of the schedules. */
static void shards_verdict_reduce(struct strategy_verdict *verdict, const char *reason)
{
	verdict->is_complete = false;
	verdict->missing = reason;
	verdict->scope[0] = '\0';
	verdict->scope_order = 0;
	verdict->missed = 0;
}

uint32_t verdict_features(const struct campaign *campaign)
{
	uint32_t features = 0;

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		features |= campaign->workers[i].worker.contract->features;
	/* The search tries each end of a wait. */
	if (campaign->options->settings.stall_ns == STALL_ANY)
		features &= ~(uint32_t)FEATURE_TIME;
	return features;
}

const char *verdict_missing(const struct campaign *campaign)
{
	if (campaign->tasks && campaign->tasks->differ)
		return PROCESSES_DIFFER;
	return features_first_text(verdict_features(campaign), OMITS_SCHEDULES);
}

void verdict_take(struct campaign *campaign)
{
	struct contract *contract = campaign->workers[0].worker.contract;
	const struct strategy *strategy = strategies[campaign->options->strategy];
	struct campaign_result *result = campaign->result;
	const char *missing;

	if (campaign->rounds)
		result->has_verdict = rounds_verdict(campaign, &result->verdict);
	else
		result->has_verdict = strategy->search.verdict &&
				      (contract->totals.runs || contract->is_elsewhere);
	if (!result->has_verdict)
		return;
	if (!campaign->rounds)
		strategy->search.verdict(contract_strategy(contract), &result->verdict);
	result->verdict.features = verdict_features(campaign);
	missing = verdict_missing(campaign);
	if (missing)
		shards_verdict_reduce(&result->verdict, missing);
	/* A bounded search refuses to begin where it finds no shared variables; a run that was cut off may reach
	 * them only behind the limit of steps. */
	if (result->verdict.refusal[0] && result->verdict.features & FEATURE_STEPS_CUT)
		(void)snprintf(result->verdict.refusal, sizeof result->verdict.refusal,
			"runs ended at the limit of steps before all was known; give a larger --max-steps"); /* fits */
}

int verdict_keep(struct campaign *campaign, bool is_over, struct error *err)
{
	struct memory_view memory = {0};
	int status;

	if (campaign->scheme->has_independent_runs || campaign->options->store)
		return 0;
	if (is_over)
		memory_view_take(&memory, contract_memory(campaign->workers[0].worker.contract));
	status = shards_keep(
		campaign, is_over && campaign->result->has_verdict ? &memory : NULL, err);
	memory_view_release(&memory);
	return status;
}

static uint32_t shards_get_count(const json_t *object, const char *key)
{
	const json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
}

static uint64_t shards_get_number(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? strtoull(text, NULL, 10) : 0;
}

struct summing {
	const struct store_campaign *campaigns;
	uint32_t campaign_count;
	const struct store_document *documents;
	uint32_t document_count;
};

static bool shards_is_same_campaign(const struct store_campaign *a, const struct store_campaign *b)
{
	return a->seed == b->seed && a->target == b->target &&
	       is_same_text(a->strategy, b->strategy) && is_same_text(a->options, b->options);
}

/* Returns the document of the shard's last campaign, which includes its earlier ones; may be NULL.
 * The caller releases the reference. */
static json_t *shards_last_of_shard(const struct summing *summing,
	const struct store_campaign *like, uint32_t shard, uint32_t shards)
{
	json_t *last = NULL;

	for (uint32_t i = 0; i < summing->campaign_count; i++) {
		json_t *object =
			shards_is_same_campaign(like, &summing->campaigns[i])
				? store_verdict_of(summing->documents, summing->document_count,
					  summing->campaigns[i].id)
				: NULL;

		if (shards_get_count(object, "shard") == shard &&
			shards_get_count(object, "shards") == shards &&
			json_object_get(object, "runs")) {
			json_decref(last);
			last = json_incref(object);
		}
		json_decref(object);
	}
	return last;
}

/* Returns whether `order` is the scope of all shards so far: the smallest scope of shards cut
 * short, or the largest scope of complete shards. */
static bool shards_is_scope_of_all(
	const struct strategy_verdict *all, bool is_complete, uint64_t order, bool is_first)
{
	if (is_first)
		return true;
	if (is_complete != all->is_complete)
		return !is_complete;
	return is_complete ? order > all->scope_order : order < all->scope_order;
}

static void shards_add_shard(struct shards *sum, const json_t *object)
{
	struct strategy_verdict *all = &sum->verdict;
	const bool is_complete = json_is_true(json_object_get(object, "complete"));
	const char *scope = json_string_value(json_object_get(object, "scope"));
	const char *missing = json_string_value(json_object_get(object, "missing"));
	const char *exchange = json_string_value(json_object_get(object, "exchange"));
	const char *model = json_string_value(json_object_get(object, "model"));
	const json_t *words = json_object_get(object, "leaves_out");
	const uint64_t order = shards_get_number(object, "scope_order");

	if (!sum->here || order < sum->least_order)
		sum->least_order = order;
	if (shards_is_scope_of_all(all, is_complete, order, !sum->here)) {
		all->scope_order = order;
		(void)snprintf(all->scope, sizeof all->scope, "%s", scope ? scope : "");
	}
	if (exchange)
		(void)snprintf(all->exchange, sizeof all->exchange, "%s", exchange);
	if (model) /* a word of another version is no model */
		(void)memory_model_parse(model, &sum->memory_model);
	all->is_complete = is_complete && (!sum->here || all->is_complete);
	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		all->features |= word ? feature_parse(word) : 0;
	}
	all->is_up_to_order = json_is_true(json_object_get(object, "up_to_order"));
	all->runs += shards_get_number(object, "runs");
	all->redundant += shards_get_number(object, "redundant");
	if (json_real_value(json_object_get(object, "missed")) > all->missed)
		all->missed = json_real_value(json_object_get(object, "missed"));
	if (missing && !sum->missing[0])
		(void)snprintf(sum->missing, sizeof sum->missing, "%s", missing);
	sum->here++;
}

/* Returns the plan of this order as text; empty if unknown. */
static const char *shards_plan_of(const json_t *object, uint64_t order)
{
	const uint64_t last = shards_get_number(object, "scope_order");
	const char *plan = json_string_value(
		json_array_get(json_object_get(object, "plans"), (size_t)(order % STRATEGY_PLANS)));

	return !plan || last - order >= STRATEGY_PLANS || !strcmp(plan, "0") ? "" : plan;
}

/* Returns whether all shards had the same plan at `order`, the smallest scope that any shard has
 * completed. */
static bool shards_have_one_plan(const struct summing *summing, const struct store_campaign *like,
	uint32_t shards, uint64_t order)
{
	char first[32] = "";
	bool is_one = true;

	for (uint32_t shard = 1; shard <= shards && is_one; shard++) {
		json_auto_t *object = shards_last_of_shard(summing, like, shard, shards);
		const char *plan = shards_plan_of(object, order);

		if (shard == 1)
			(void)snprintf(first, sizeof first, "%s", plan);
		is_one = !object || !strcmp(plan, first);
	}
	return is_one;
}

static const char *shards_difference_of(
	const struct store_campaign *a, const struct store_campaign *b)
{
	if (a->target != b->target)
		return "is of another program";
	if (!is_same_text(a->strategy, b->strategy))
		return "has another strategy, or other bounds";
	return a->seed != b->seed ? "has another seed" : "has other settings";
}

/* Searches for a shard of the missing number from a search with other options, to explain the gap
 * to the user. */
static void shards_look_for_stranger(const struct summing *summing,
	const struct store_campaign *like, uint32_t shard, struct shards *sum)
{
	for (uint32_t i = 0; !sum->stranger && i < summing->campaign_count; i++) {
		json_auto_t *object = store_verdict_of(
			summing->documents, summing->document_count, summing->campaigns[i].id);

		if (shards_get_count(object, "shard") == shard &&
			shards_get_count(object, "shards") == sum->count) {
			sum->stranger = shard;
			sum->difference = shards_difference_of(like, &summing->campaigns[i]);
		}
	}
}

/* Appends the shard's number, or "..." if the list is full. */
static void shards_name_shard(char *list, size_t size, uint32_t shard)
{
	const size_t length = strlen(list);

	if (length > 4 && !strcmp(list + length - 3, "..."))
		return;
	if (length + sizeof ", 1048576, ..." > size)
		(void)snprintf(list + length, size - length, ", ...");
	else
		(void)snprintf(list + length, size - length, length ? ", %u" : "%u", shard);
}

static void shards_sum_up(
	const struct summing *summing, const struct store_campaign *like, struct shards *sum)
{
	uint64_t memory = 0;

	sum->is_one_memory = true;
	(void)snprintf(sum->strategy, sizeof sum->strategy, "%s", like->strategy);
	for (uint32_t shard = 1; shard <= sum->count; shard++) {
		json_auto_t *object = shards_last_of_shard(summing, like, shard, sum->count);

		if (object) {
			sum->is_one_memory &=
				!sum->here || memory == shards_get_number(object, "memory");
			memory = shards_get_number(object, "memory");
			shards_add_shard(sum, object);
			if (!json_is_true(json_object_get(object, "complete")))
				shards_name_shard(sum->cut, sizeof sum->cut, shard);
		} else {
			shards_name_shard(sum->absent, sizeof sum->absent, shard);
			shards_look_for_stranger(summing, like, shard, sum);
		}
	}
	sum->is_one_memory &= shards_have_one_plan(summing, like, sum->count, sum->least_order);
	for (uint32_t i = 0; i < summing->campaign_count; i++)
		if (shards_is_same_campaign(like, &summing->campaigns[i]))
			sum->failures += summing->campaigns[i].failures;
	sum->verdict.missing = sum->missing[0] ? sum->missing : NULL;
}

/* Returns whether no earlier campaign belongs to the same search. */
static bool shards_is_first_of_all(const struct summing *summing, uint32_t number, uint32_t shards)
{
	for (uint32_t i = 0; i < number; i++)
		if (shards_is_same_campaign(&summing->campaigns[i], &summing->campaigns[number]) &&
			store_shards_of(summing->documents, summing->document_count,
				summing->campaigns[i].id) == shards)
			return false;
	return true;
}

int shards_list(struct store *store, struct shards **out, uint32_t *count, struct error *err)
{
	struct store_campaign *campaigns = NULL;
	struct store_document *documents = NULL;
	struct summing summing = {0};
	int status = store_list_campaigns(store, &campaigns, &summing.campaign_count, err);

	*count = 0;
	if (!status)
		status = store_list_documents(store, &documents, &summing.document_count, err);
	summing.campaigns = campaigns;
	summing.documents = documents;
	*out = array_new(summing.campaign_count + 1u, sizeof **out);
	for (uint32_t i = 0; !status && i < summing.campaign_count; i++) {
		const uint32_t shards =
			store_shards_of(documents, summing.document_count, campaigns[i].id);

		if (shards < 2 || !shards_is_first_of_all(&summing, i, shards))
			continue;
		(*out)[*count].count = shards;
		shards_sum_up(&summing, &campaigns[i], &(*out)[(*count)++]);
	}
	for (uint32_t i = 0; i < summing.campaign_count; i++)
		store_campaign_release(&campaigns[i]);
	free(campaigns);
	store_documents_free(documents, summing.document_count);
	return status;
}
