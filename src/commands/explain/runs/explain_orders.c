#include "commands/explain/runs/explain_orders.h"

#include <string.h>

#include "commands/explain/runs/explain_orders_internal.h"

/* The orders of a kind of access by ascending strength. */
static const uint8_t *explain_orders_ladder(uint8_t kind, enum memory_model model)
{
	static const uint8_t sequential[] = {ORDER_SEQUENTIAL};
	static const uint8_t load[] = {ORDER_ACQUIRE, ORDER_SEQUENTIAL};
	static const uint8_t store[] = {ORDER_RELEASE, ORDER_SEQUENTIAL};
	static const uint8_t update[] = {
		ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQUIRE_RELEASE, ORDER_SEQUENTIAL};

	if (model == MEMORY_MODEL_TSO)
		return sequential;
	switch (kind) {
	case OP_LOAD:
	case OP_ATOMIC_LOAD:
		return load;
	case OP_STORE:
	case OP_ATOMIC_STORE:
		return store;
	default:
		return update;
	}
}

static bool explain_orders_is_stronger(uint8_t order, uint8_t than)
{
	return order > than && !(order == ORDER_RELEASE && than == ORDER_ACQUIRE);
}

/* Replaces the changes, one after the other, by the weakest orders that suffice. */
static int explain_orders_weaken(struct orders_search *search, struct orders_repair *repair)
{
	for (uint32_t i = 0; i < repair->count; i++) {
		const struct orders_location *location =
			&search->out->locations[repair->changes[i].location];
		const bool is_fence = repair->changes[i].is_fence;
		const uint8_t *ladder = explain_orders_ladder(
			is_fence ? (uint8_t)OP_ATOMIC_UPDATE : location->kind, search->out->model);

		for (; *ladder != ORDER_SEQUENTIAL; ladder++) {
			struct orders_repair weaker = *repair;
			enum orders_trial trial;
			int result;

			if (!is_fence && !explain_orders_is_stronger(*ladder, location->order))
				continue;
			weaker.changes[i].order = *ladder;
			result = orders_try(search, &weaker, &trial);
			if (result < 0)
				return result;
			if (trial != TRIAL_PASSES)
				continue;
			*repair = weaker;
			break;
		}
	}
	return 0;
}

/* Sequential consistency counts more than a pair of release and acquire. */
static uint32_t explain_orders_strength(const struct orders_repair *repair)
{
	static const uint8_t strengths[] = {[ORDER_CONSUME] = 1,
		[ORDER_ACQUIRE] = 1,
		[ORDER_RELEASE] = 1,
		[ORDER_ACQUIRE_RELEASE] = 2,
		[ORDER_SEQUENTIAL] = 4};
	uint32_t strength = 0;

	for (uint32_t i = 0; i < repair->count; i++)
		strength += strengths[repair->changes[i].order];
	return strength;
}

/* Keeps repairs of the least strength. */
static void explain_orders_keep(struct explain_orders *out, const struct orders_repair *repair)
{
	const uint32_t strength = explain_orders_strength(repair);
	const uint32_t least =
		out->repair_count ? explain_orders_strength(&out->repairs[0]) : strength;

	if (strength < least)
		out->repair_count = 0;
	if (strength <= least && out->repair_count < ORDERS_REPAIRS_MOST)
		out->repairs[out->repair_count++] = *repair;
}

/* Adds the change with the strongest order. Returns false if it has no effect under the model. */
static bool explain_orders_add_change(const struct explain_orders *out,
	struct orders_repair *repair, uint32_t location, bool is_fence)
{
	const bool is_load = out->locations[location].kind == OP_LOAD ||
			     out->locations[location].kind == OP_ATOMIC_LOAD;

	if (out->model == MEMORY_MODEL_TSO && is_load != is_fence)
		return false;
	repair->changes[repair->count++] = (struct orders_change){
		.location = (uint8_t)location, .order = ORDER_SEQUENTIAL, .is_fence = is_fence};
	return true;
}

/* Tries the changes, and keeps the least ones that suffice. */
static int explain_orders_examine(
	struct orders_search *search, struct orders_repair *repair, enum orders_trial *trial)
{
	int result = orders_try(search, repair, trial);

	if (result == 0 && *trial == TRIAL_PASSES) {
		result = explain_orders_weaken(search, repair);
		explain_orders_keep(search->out, repair);
	}
	return result;
}

static int explain_orders_try_singles(struct orders_search *search, bool is_fence)
{
	struct explain_orders *out = search->out;
	int result = 0;

	for (uint32_t i = 0; i < out->location_count && result == 0; i++) {
		struct orders_repair repair = {0};
		enum orders_trial trial = TRIAL_UNFINISHED;

		if (!explain_orders_add_change(out, &repair, i, is_fence))
			continue;
		result = explain_orders_examine(search, &repair, &trial);
		if (result == 0 && trial == TRIAL_FAILS && !is_fence)
			out->failing[out->failing_count++] = repair.changes[0];
	}
	return result;
}

static int explain_orders_try_pairs(struct orders_search *search, bool is_fence)
{
	struct explain_orders *out = search->out;
	int result = 0;

	for (uint32_t i = 0; i < out->location_count; i++)
		for (uint32_t j = i + 1; j < out->location_count && result == 0; j++) {
			struct orders_repair repair = {0};
			enum orders_trial trial;

			if (explain_orders_add_change(out, &repair, i, is_fence) &&
				explain_orders_add_change(out, &repair, j, is_fence))
				result = explain_orders_examine(search, &repair, &trial);
		}
	return result;
}

/* Leaves out one access after the other. */
static int explain_orders_reduce(struct orders_search *search, struct orders_repair *repair)
{
	for (uint32_t i = 0; i < repair->count;) {
		struct orders_repair fewer = *repair;
		enum orders_trial trial;
		int result;

		memmove(&fewer.changes[i], &fewer.changes[i + 1],
			(repair->count - i - 1) * sizeof *fewer.changes);
		fewer.count--;
		result = orders_try(search, &fewer, &trial);
		if (result < 0)
			return result;
		if (trial == TRIAL_PASSES)
			*repair = fewer;
		else
			i++;
	}
	return 0;
}

/* Begins with all accesses changed; with fences, only if orders do not suffice. */
static int explain_orders_try_all(struct orders_search *search, bool is_fence, bool *is_sufficient)
{
	struct explain_orders *out = search->out;
	struct orders_repair repair = {0};
	enum orders_trial trial;
	int result;

	for (uint32_t i = 0; i < out->location_count; i++)
		(void)explain_orders_add_change(out, &repair, i, is_fence);
	result = orders_try(search, &repair, &trial);
	*is_sufficient = trial == TRIAL_PASSES;
	if (result < 0 || !*is_sufficient || out->repair_count)
		return result;
	result = explain_orders_reduce(search, &repair);
	if (result == 0)
		result = explain_orders_weaken(search, &repair);
	if (result == 0)
		explain_orders_keep(out, &repair);
	return result;
}

/* Singles, then pairs: first orders, then fences. */
static int explain_orders_try_few(struct orders_search *search)
{
	int result = 0;

	for (uint32_t size = 1; size <= 2; size++)
		for (uint32_t is_fence = 0; is_fence < 2; is_fence++) {
			if (result < 0 || search->out->repair_count || search->out->is_unfinished)
				return result;
			result = size == 1 ? explain_orders_try_singles(search, is_fence)
					   : explain_orders_try_pairs(search, is_fence);
		}
	return result;
}

static int explain_orders_try_changes(struct orders_search *search)
{
	struct explain_orders *out = search->out;
	bool is_sufficient = false;
	int result = explain_orders_try_few(search);

	if (result < 0 || out->repair_count || out->is_unfinished)
		return result;
	result = explain_orders_try_all(search, false, &is_sufficient);
	if (result == 0 && !is_sufficient && !out->is_unfinished)
		result = explain_orders_try_all(search, true, &is_sufficient);
	out->is_hopeless = result == 0 && !is_sufficient && !out->is_unfinished;
	return result;
}

int explain_find_orders(
	struct explain *explain, uint64_t until_ns, struct explain_orders *out, struct error *err)
{
	struct orders_search search = {
		.explain = explain, .out = out, .err = err, .until_ns = until_ns};
	int result;

	*out = (struct explain_orders){.model = MEMORY_MODEL_SC};
	if (explain->setting.settings.memory_model == MEMORY_MODEL_SC || !explain_repeats(explain))
		return 0;
	explain_runs_drop(explain);
	result = orders_collect(&search);
	if (result < 0 || out->model == MEMORY_MODEL_SC)
		return result;
	result = orders_open(&search);
	if (result < 0)
		return result;
	result = orders_measure(&search);
	if (result == 0 && out->is_repeatable)
		result = explain_orders_try_changes(&search);
	probe_close(&search.probe);
	return result;
}
