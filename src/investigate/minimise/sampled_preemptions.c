#include "investigate/minimise/sampled_preemptions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number_map.h"
#include "base/rng.h"
#include "exchange/contract_block.h"
#include "investigate/minimise/tries.h"
#include "plan/races.h"
#include "platform/platform.h"

/* Operations of other threads before a preempted thread continues: both of a read and a write, or of
 * a lock and an unlock, twice. */
#define OPS_MOST 4u
/* Binary logarithms of the steps after which the thread continues anyway. */
#define STEPS_LEAST 8u
#define STEPS_MOST 20u
/* Of two runs with the most preemptions, and of the two runs that follow. */
#define FEW 4u
#define SITES_MOST (KEY_TABLE_CAPACITY / 2)
/* Of a longer run, the last operations show where it conflicts. */
#define OPS_KEPT (UINT32_C(1) << 16)

/* Items of a failing plan, of which parts are left out in turn. */
struct sample_reduction {
	struct replay_preemption items[REPLAY_PREEMPTIONS_MOST];
	uint32_t count; /* 0: no plan has failed */
	uint32_t start, part;
};

struct sampled_preemptions {
	struct fewer_preemptions *search;
	struct failure *best;
	struct probe probe;
	struct schedule_segment *
		values; /* choices of the failing run other than threads, such as whom a signal wakes; all runs repeat them */
	uint32_t value_count;
	/* `sites`: code addresses of conflicting operations of the failing run, the latest operation first.
	 * `racing`: those whose conflict is a data race. */
	uint64_t *sites, *racing;
	uint32_t site_count, racing_count;
	struct key_table known; /* the same sites */
	/* operations at each, and open ones, in a run without preemptions */
	uint64_t numbers[KEY_TABLE_CAPACITY], open[KEY_TABLE_CAPACITY];
	uint32_t fewer; /* one preemption less than the failing run has, at least 1 */
	uint64_t run;	/* number of the current candidate */
	struct replay_preemption items[REPLAY_PREEMPTIONS_MOST]; /* of the last plan */
	struct sample_reduction reduction;
};

static bool sampled_preemptions_is_racing(
	const struct race_seen *seen, uint32_t seen_count, uint64_t site)
{
	for (uint32_t i = 0; i < seen_count; i++)
		if (seen[i].pair.site == site || seen[i].pair.other == site)
			return true;
	return false;
}

/* Returns the operations that the run kept, in their order, for the caller to free. */
static struct replay_op *sampled_preemptions_ops(struct contract *contract, uint32_t *count)
{
	const struct replay_observed *observed = replay_observed(contract_strategy(contract));
	const uint32_t total = observed->op_count;
	struct replay_op *ops;

	*count = total < OPS_KEPT ? total : OPS_KEPT;
	ops = array_new(*count, sizeof *ops);
	for (uint32_t i = 0; i < *count; i++)
		ops[i] = observed->ops[(total - *count + i) % OPS_KEPT];
	return ops;
}

/* Who has accessed an object. One thread that only read it: its index. One thread that wrote it: its index
 * plus OBJECT_WRITTEN. Several threads: OBJECT_READ_ONLY, or OBJECT_CONTENDED if one of them wrote. */
enum { OBJECT_WRITTEN = 1 << 16, OBJECT_READ_ONLY = 1 << 17, OBJECT_CONTENDED };

/* Finds the objects that several threads access, one of them writing. */
static struct number_map sampled_preemptions_objects(const struct replay_op *ops, uint32_t op_count)
{
	struct number_map objects = {0};

	for (uint32_t i = 0; i < op_count; i++) {
		const uint32_t own = ops[i].thread, written = ops[i].is_read ? 0 : OBJECT_WRITTEN;
		const uint32_t known = number_map_get(&objects, ops[i].object);
		uint32_t now = OBJECT_CONTENDED;

		if (known == NUMBER_MAP_NONE)
			now = own | written;
		else if (known < OBJECT_READ_ONLY && (known & ~(uint32_t)OBJECT_WRITTEN) == own)
			now = known | written;
		else if (known != OBJECT_CONTENDED && !written && !(known & OBJECT_WRITTEN))
			now = OBJECT_READ_ONLY;
		number_map_set(&objects, ops[i].object, now);
	}
	return objects;
}

static void sampled_preemptions_learn_sites(
	struct sampled_preemptions *samples, struct contract *contract)
{
	const struct race_seen *seen = NULL;
	const uint32_t seen_count = races_seen_list(contract, &seen);
	uint32_t count;
	FREE_SCOPED struct replay_op *ops = sampled_preemptions_ops(contract, &count);
	struct number_map objects = sampled_preemptions_objects(ops, count);

	for (uint32_t i = count; i-- > 0 && samples->site_count < SITES_MOST;) {
		if (number_map_get(&objects, ops[i].object) != OBJECT_CONTENDED || !ops[i].site ||
			key_table_find(&samples->known, ops[i].site) != KEY_TABLE_NONE)
			continue;
		(void)key_table_add(&samples->known, ops[i].site); /* has room for SITES_MOST */
		ARRAY_APPEND(samples->sites, samples->site_count, ops[i].site);
		if (sampled_preemptions_is_racing(seen, seen_count, ops[i].site))
			ARRAY_APPEND(samples->racing, samples->racing_count, ops[i].site);
	}
	number_map_release(&objects);
}

/*
 * Learns the sites of conflicting operations from a replay of the failing run, and those that the failing run did not
 * reach from a run without preemptions. The replay of a run that never ends stops soon after its loop has begun. If a
 * replay does not fail again, samples->site_count stays 0.
 */
static int sampled_preemptions_observe(struct sampled_preemptions *samples, struct error *err)
{
	struct probe_params params = samples->search->probe;
	struct probe_plan plan = probe_plan_exact(samples->best);
	const bool is_loop = samples->best->outcome.kind == OUTCOME_LIVELOCK;
	const struct settings *settings = params.settings;
	struct probe probe;
	int result;

	plan.mode = REPLAY_OBSERVE;
	plan.op_capacity = OPS_KEPT;
	if (is_loop)
		plan.step_limit =
			failure_loop_start(samples->best->segments, samples->best->segment_count) +
			OPS_KEPT / 2;
	params.idle = NULL; /* the idle probe watches no races */
	params.watches_races = settings->memory_model == MEMORY_MODEL_SC &&
			       !settings->races.are_failures && !settings->races.weak;
	result = probe_open(&probe, &params, err);
	if (result < 0)
		return result;
	result = probe_run(&probe, &plan, err);
	if (result == 0 && !probe.has_diverged && (is_loop || probe_shows(&probe, samples->best))) {
		sampled_preemptions_learn_sites(samples, probe.worker.contract);
		plan.segment_count = 0;
		result = probe_run(&probe, &plan, err);
		if (result == 0)
			sampled_preemptions_learn_sites(samples, probe.worker.contract);
	}
	probe_close(&probe);
	return result;
}

/* Draws a number below `count`, each power of two equally likely. */
static uint32_t sampled_preemptions_draw_small(struct rng *rng, uint32_t count)
{
	uint32_t powers = 1, most;

	while (powers < 31 && (UINT32_C(1) << powers) < count)
		powers++;
	most = UINT32_C(1) << (1 + rng_below(rng, powers));
	return rng_below(rng, most < count ? most : count);
}

static struct replay_preemption sampled_preemptions_draw(
	const struct sampled_preemptions *samples, bool is_racing, struct rng *rng)
{
	const uint64_t *sites = is_racing ? samples->racing : samples->sites;
	const uint32_t count = is_racing ? samples->racing_count : samples->site_count;
	struct replay_preemption item = {.site = sites[sampled_preemptions_draw_small(rng, count)]};
	const uint32_t known = key_table_find(&samples->known, item.site);
	const uint64_t number =
		samples->open[known] ? samples->open[known] : samples->numbers[known];

	item.is_open = samples->open[known] > 0;
	item.number = 1 + rng_below64(rng, number ? number : 1);
	item.turn = rng_below(rng, UINT32_C(1) << 16);
	item.op_count = 1 + rng_below(rng, OPS_MOST);
	item.step_count = UINT32_C(1) << (STEPS_LEAST + rng_below(rng, STEPS_MOST - STEPS_LEAST));
	return item;
}

/* A candidate depends on its number only. A preempted thread that continues may preempt another one: half as
 * many preemptions by site may be all that is allowed. */
static uint32_t sampled_preemptions_draw_all(struct sampled_preemptions *samples, uint64_t number)
{
	const bool is_racing = samples->racing_count && number % 2 == 0;
	const bool is_few = number % 4 >= 2;
	/* The few preemptions of a minimised schedule may build on each other. */
	const bool is_nested = samples->fewer < REPLAY_PREEMPTIONS_MOST && number % 8 >= 4;
	const uint32_t most = is_few ? FEW : REPLAY_PREEMPTIONS_MOST;
	const uint32_t fewer = is_few && !is_nested ? (samples->fewer + 1) / 2 : samples->fewer;
	const uint32_t count = fewer < most ? fewer : most;
	struct rng rng;

	rng_seed(&rng, number);
	for (uint32_t i = 0; i < count; i++) {
		samples->items[i] = sampled_preemptions_draw(samples, is_racing, &rng);
		if (is_nested)
			samples->items[i].op_count = 0;
	}
	return count;
}

/* A reduction leaves out a part of the failing items; after a rejected part comes the next one, and
 * after the last one the first of half that size. Returns the number of items, UINT32_MAX: no part is
 * left. */
static uint32_t sampled_preemptions_leave_out(struct sampled_preemptions *samples, uint32_t ahead)
{
	struct sample_reduction at = samples->reduction;
	const size_t bytes = sizeof *at.items;

	for (;; at.start += at.part) {
		if (at.start + at.part > at.count || at.part == at.count) {
			at.part /= 2;
			at.start = 0;
		}
		if (!at.part)
			return UINT32_MAX;
		if (!ahead--)
			break;
	}
	memcpy(samples->items, at.items, at.start * bytes);
	memcpy(samples->items + at.start, at.items + at.start + at.part,
		(at.count - at.start - at.part) * bytes);
	return at.count - at.part;
}

static bool sampled_preemptions_plan(void *context, uint32_t ahead, struct probe_plan *plan)
{
	struct sampled_preemptions *samples = context;
	const uint32_t count =
		samples->reduction.count
			? sampled_preemptions_leave_out(samples, ahead)
			: sampled_preemptions_draw_all(samples, samples->run + ahead);

	*plan = (struct probe_plan){
		.mode = REPLAY_PREEMPT,
		.segments = samples->values,
		.segment_count = samples->value_count,
		.preemptions = samples->items,
		.preemption_count = count,
		.step_limit = failure_step_limit(samples->best, samples->search->steps_most),
	};
	return count != UINT32_MAX;
}

/* Does the run show the failure, or use a freed block of the same kind? Which access meets the freed
 * block first is chance in a schedule that has little in common with the failing one. */
static bool sampled_preemptions_shows(
	const struct sampled_preemptions *samples, const struct probe *probe)
{
	const struct outcome *run = &probe->worker.contract->outcome;
	const struct outcome *wanted = &samples->best->outcome;

	return probe_shows(probe, samples->best) ||
	       (probe->is_failure && run->kind == wanted->kind && run->object_group &&
		       run->object_group == wanted->object_group);
}

/* Sites with open operations are drawn more often. Otherwise the order stays. */
static void sampled_preemptions_put_open_first(
	const struct sampled_preemptions *samples, uint64_t *sites, uint32_t count)
{
	FREE_SCOPED uint64_t *others = array_new(count + 1, sizeof *others);
	uint32_t open_count = 0, other_count = 0;

	for (uint32_t i = 0; i < count; i++)
		if (samples->open[key_table_find(&samples->known, sites[i])])
			sites[open_count++] = sites[i];
		else
			others[other_count++] = sites[i];
	if (other_count)
		memcpy(sites + open_count, others, other_count * sizeof *sites);
}

/* Counts the operations at the sites in a run without preemptions, which may fail itself. */
static int sampled_preemptions_count(struct sampled_preemptions *samples, struct error *err)
{
	const struct probe_plan plan = {
		.mode = REPLAY_PREEMPT,
		.segments = samples->values,
		.segment_count = samples->value_count,
		.sites = samples->sites,
		.site_count = samples->site_count,
	};
	const struct replay_preempt *counted;
	uint64_t steps;
	int result = probe_run(&samples->probe, &plan, err);

	if (result < 0)
		return result;
	counted = replay_preempt(contract_strategy(samples->probe.worker.contract));
	for (uint32_t i = 0; i < samples->site_count; i++) {
		samples->numbers[i] = counted->performed[i];
		samples->open[i] = counted->open[i];
	}
	sampled_preemptions_put_open_first(samples, samples->sites, samples->site_count);
	sampled_preemptions_put_open_first(samples, samples->racing, samples->racing_count);
	/* Few preemptions are worth a longer run. */
	steps = samples->probe.worker.contract->outcome.step;
	if (samples->search->steps_most < steps + steps / 4)
		samples->search->steps_most = steps + steps / 4;
	if (sampled_preemptions_shows(samples, &samples->probe))
		(void)fewer_preemptions_take(samples->search, &samples->probe, samples->best);
	return 0;
}

/* *has_shown: the run becomes the best one. Returns 0 without a run if there is no candidate. */
static int sampled_preemptions_try(struct sampled_preemptions *samples,
	const struct minimise_ahead *ahead, bool *has_shown, struct error *err)
{
	const struct minimise_sequence sequence = {
		.number = samples->run, .context = samples, .plan = sampled_preemptions_plan};
	struct probe *made = &samples->probe;
	struct probe_plan plan;
	int result;

	*has_shown = false;
	if (!sampled_preemptions_plan(samples, 0, &plan))
		return 0;
	result = ahead ? ahead->run(ahead->context, &samples->probe, &sequence, &made, err)
		       : probe_run(made, &plan, err);
	if (result == 0 && sampled_preemptions_shows(samples, made)) {
		*has_shown = fewer_preemptions_take(samples->search, made, samples->best) ||
			     samples->reduction.count; /* items without effect */
	}
	if (*has_shown && ahead)
		ahead->turn(ahead->context);
	samples->run++;
	return result;
}

/* Removes items from the plan that failed last as long as the failure shows, half of them first. */
static int sampled_preemptions_reduce(struct sampled_preemptions *samples,
	const struct minimise_ahead *ahead, uint64_t begun_ns, struct error *err)
{
	const uint64_t first = samples->run;
	struct sample_reduction *at = &samples->reduction;
	int result = 0;

	at->count = sampled_preemptions_draw_all(samples, samples->run - 1);
	memcpy(at->items, samples->items, sizeof at->items);
	for (at->part = at->count / 2; at->part && result == 0; at->part /= 2) {
		at->start = 0;
		/* The run without preemptions is known. */
		while (at->start + at->part <= at->count && at->part < at->count && result == 0 &&
			budget_allows(&samples->search->budget, samples->run - first, begun_ns)) {
			bool has_shown;

			result = sampled_preemptions_try(samples, ahead, &has_shown, err);
			if (has_shown) {
				at->count -= at->part;
				memmove(at->items + at->start, at->items + at->start + at->part,
					(at->count - at->start) * sizeof *at->items);
			} else {
				at->start += at->part;
			}
		}
	}
	return result;
}

static int sampled_preemptions_make_runs(
	struct sampled_preemptions *samples, const struct minimise_ahead *ahead, struct error *err)
{
	const uint64_t begun_ns = platform_monotonic_ns();
	bool has_shown = false;
	int result = sampled_preemptions_count(samples, err);

	if (result < 0 || samples->search->is_found)
		return result;
	while (result == 0 && !has_shown &&
		budget_allows(&samples->search->budget, samples->run, begun_ns))
		result = sampled_preemptions_try(samples, ahead, &has_shown, err);
	if (has_shown)
		result = sampled_preemptions_reduce(samples, ahead, begun_ns, err);
	return result;
}

int sampled_preemptions_search(struct fewer_preemptions *search, uint32_t workers,
	struct failure *failure, struct error *err)
{
	FREE_SCOPED struct sampled_preemptions *samples = NULL;
	struct tries tries;
	int result;

	search->is_found = false;
	if (!failure->preemptions || failure->is_truncated)
		return 0;
	samples = array_new(1, sizeof *samples);
	samples->search = search;
	samples->best = failure;
	samples->fewer = failure->preemptions > 1 ? failure->preemptions - 1 : 1;
	for (uint32_t i = 0; i < failure->segment_count; i++)
		if (failure->segments[i].flags & SEGMENT_VALUE)
			ARRAY_APPEND(samples->values, samples->value_count, failure->segments[i]);
	result = sampled_preemptions_observe(samples, err);
	if (result == 0 && samples->site_count) {
		result = probe_open(&samples->probe, &search->probe, err);
		if (result == 0) {
			tries_init(&tries, &search->probe, workers);
			result = sampled_preemptions_make_runs(
				samples, workers > 1 ? &tries.ahead : NULL, err);
			tries_release(&tries); /* a run of samples->probe may be under way */
			probe_close(&samples->probe);
		}
	}
	free(samples->values);
	free(samples->sites);
	free(samples->racing);
	return result;
}
