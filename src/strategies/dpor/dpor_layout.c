/*
 * Layout of a state of dpor in one block, and the validation of a state that comes from a file or
 * another process: all indices lie within the block, all lists end, and no branch is in two lists.
 */
#include "base/bitset.h"
#include "strategies/dpor/dpor.h"
#include "strategies/strategy.h"

#define SLEEPERS_PER_STEP 8

static size_t dpor_layout_take(size_t *at, size_t bytes)
{
	const size_t start = (*at + 15) & ~(size_t)15;

	*at = start + bytes;
	return start;
}

size_t dpor_lay_out(const struct strategy_config *config, struct dpor *dpor)
{
	const uint32_t steps = (uint32_t)config->option[DPOR_OPTION_STEPS];
	size_t at = sizeof(struct dpor);

	dpor->share.shards = config->shards > 1 ? config->shards : 0;
	dpor->share.shard = dpor->share.shards ? config->shard : 0;
	dpor->symmetry.is_wanted = config->option[DPOR_OPTION_SYMMETRY];
	dpor->step_capacity = steps;
	dpor->branch_capacity = steps * DPOR_BRANCHES_PER_STEP;
	dpor->sleeper_capacity = steps * SLEEPERS_PER_STEP;
	dpor->steps_at = (uint32_t)dpor_layout_take(&at, (steps + 1) * sizeof(struct dpor_step));
	dpor->clocks_at = (uint32_t)dpor_layout_take(
		&at, ((size_t)steps + 1) * DPOR_THREADS * sizeof(uint32_t));
	dpor->branches_at =
		(uint32_t)dpor_layout_take(&at, dpor->branch_capacity * sizeof(struct dpor_branch));
	dpor->sleepers_at = (uint32_t)dpor_layout_take(
		&at, dpor->sleeper_capacity * sizeof(struct dpor_sleeper));
	dpor->scratch_at = (uint32_t)dpor_layout_take(&at, (steps + 4) * sizeof(uint32_t));
	return at;
}

static bool dpor_layout_is_op(const struct dpor_op *op)
{
	return op->thread < DPOR_THREADS && op->kind < OP_KIND_COUNT;
}

static bool dpor_layout_is_link(uint32_t link, uint32_t bound)
{
	return link == DPOR_NONE || link < bound;
}

static bool dpor_layout_has_layout(const struct dpor *dpor, const struct dpor *expected)
{
	return dpor->step_capacity == expected->step_capacity &&
	       dpor->branch_capacity == expected->branch_capacity &&
	       dpor->sleeper_capacity == expected->sleeper_capacity &&
	       dpor->steps_at == expected->steps_at && dpor->clocks_at == expected->clocks_at &&
	       dpor->branches_at == expected->branches_at &&
	       dpor->sleepers_at == expected->sleepers_at &&
	       dpor->scratch_at == expected->scratch_at;
}

static bool dpor_layout_has_counts(const struct dpor *dpor)
{
	return dpor->depth <= dpor->step_capacity && dpor->step_count <= dpor->step_capacity &&
	       dpor->branch_used <= dpor->branch_capacity &&
	       dpor->sleeper_used <= dpor->sleeper_capacity && dpor->slot_count <= DPOR_THREADS &&
	       dpor->width <= DPOR_THREADS && dpor->width % DPOR_LANES == 0 &&
	       dpor->width >= dpor->slot_count && dpor->base <= dpor->step_count &&
	       dpor->first_new <= dpor->step_count && (!dpor->task || dpor->last < dpor->base);
}

static bool dpor_layout_has_flags(const struct dpor *dpor)
{
	const bool *const flags[] = {&dpor->is_exact, &dpor->has_arrived, &dpor->is_exhausted,
		&dpor->is_blocked, &dpor->is_impossible, &dpor->has_diverged, &dpor->is_lost,
		&dpor->has_merged, &dpor->is_alone, &dpor->is_observing, &dpor->is_view_observed,
		&dpor->is_straight, &dpor->share.is_scouting, &dpor->share.is_elsewhere,
		&dpor->share.is_held_up, &dpor->symmetry.is_wanted, &dpor->symmetry.is_active,
		&dpor->symmetry.has_no_event};

	for (uint32_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (!strategy_is_flag(flags[i]))
			return false;
	return true;
}

static bool dpor_layout_has_shares(
	const struct dpor_share *share, const struct dpor_share *expected)
{
	const struct dpor_event *events;

	if (share->shards != expected->shards || share->shard != expected->shard ||
		(!share->shards && share->levels))
		return false;
	if (share->levels > DPOR_PAIRS_MOST || share->fixed_count > DPOR_SYMMETRY_PAIRS ||
		share->pair_count > share->fixed_count + share->levels ||
		(share->is_scouting && share->pair_count == share->fixed_count + share->levels))
		return false;
	for (uint32_t i = 0; i < share->pair_count || i < share->fixed_count; i++) {
		events = share->pairs[i].events;
		if (share->pairs[i].lead > 1 || events[0].thread >= DPOR_THREADS ||
			events[1].thread >= DPOR_THREADS ||
			!strategy_is_flag(&events[0].is_change) ||
			!strategy_is_flag(&events[1].is_change))
			return false;
	}
	return true;
}

static bool dpor_layout_has_groups(
	const struct dpor_symmetry *symmetry, const struct dpor_symmetry *expected)
{
	if (symmetry->is_wanted != expected->is_wanted ||
		symmetry->broken >= DPOR_ASYMMETRY_COUNT ||
		symmetry->group_count > DPOR_SYMMETRY_GROUPS)
		return false;
	for (uint32_t i = 0; i < symmetry->group_count; i++)
		if (symmetry->groups[i].first >= DPOR_THREADS || !symmetry->groups[i].slots)
			return false;
	return true;
}

/* Fields of the last run, `steps` long. */
static bool dpor_layout_has_threads(const struct dpor *dpor, uint32_t steps)
{
	for (uint32_t i = 0; i < DPOR_THREADS; i++)
		if (dpor->slot_of[i] >= DPOR_THREADS || dpor->buffer_of[i] >= DPOR_THREADS ||
			(dpor->depth && (!dpor_layout_is_link(dpor->last_step[i], steps) ||
						!dpor_layout_is_link(dpor->creation[i], steps))) ||
			(dpor->index_of[i] >= THREAD_CAPACITY && dpor->index_of[i] != UINT16_MAX))
			return false;
	for (uint32_t i = 0; dpor->depth && i < DPOR_BUCKETS; i++)
		if (!dpor_layout_is_link(dpor->last_in_bucket[i], steps))
			return false;
	return !dpor->depth || dpor_layout_is_link(dpor->last_wide, steps);
}

/* Links lead to earlier steps. A step behind `step_count` belongs to the last run only. */
static bool dpor_layout_has_steps(struct dpor *dpor, uint32_t count)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint32_t sleepers = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct dpor_step *step = &steps[i];

		if (!dpor_layout_is_op(&step->op) || !strategy_is_flag(&step->is_value) ||
			!strategy_is_flag(&step->has_other) ||
			(step->is_value && step->value >= step->value_count) ||
			!dpor_layout_is_link(step->previous, i) ||
			!dpor_layout_is_link(step->enabler, i) ||
			!dpor_layout_is_link(step->previous_in_bucket, i) ||
			!dpor_layout_is_link(step->wide, i))
			return false;
		if (i >= dpor->step_count)
			continue;
		if (step->sleeper < sleepers || step->sleeper > dpor->sleeper_used ||
			step->sleeper_count > dpor->sleeper_used - step->sleeper)
			return false;
		sleepers = step->sleeper + step->sleeper_count;
	}
	for (uint32_t at = dpor->open, bound = count; at != DPOR_NONE; at = steps[at].open_before) {
		if (at >= bound)
			return false;
		bound = at;
	}
	for (uint32_t i = 0; i < dpor->sleeper_used; i++)
		if (!dpor_layout_is_op(&dpor_sleepers(dpor)[i].op))
			return false;
	return true;
}

/* Marks a branch that a link leads to. False: there is no such branch, or another link to it. */
static bool dpor_layout_reaches(uint64_t *reached, uint32_t branch, uint32_t count)
{
	if (branch == DPOR_NONE)
		return true;
	if (branch >= count || bitset_has(reached, branch))
		return false;
	bitset_add(reached, branch);
	return true;
}

/* With at most one link to each branch, trees that begin at steps have no cycles. */
static bool dpor_layout_has_trees(struct dpor *dpor)
{
	const struct dpor_branch *branches = dpor_branches(dpor);
	const uint32_t count = dpor->branch_used, words = BITSET_WORDS(count);
	uint64_t *reached = (uint64_t *)(void *)dpor_scratch(dpor), *free = reached + words;
	uint32_t at = dpor->branch_free;
	bool is_valid = true;

	_Static_assert(
		2 * DPOR_BRANCHES_PER_STEP <= 32, "two bits for each branch fit in the scratch");
	memset(reached, 0, 2 * words * sizeof *reached);
	while (at != DPOR_NONE) {
		if (!dpor_layout_reaches(reached, at, count))
			return false;
		bitset_add(free, at);
		at = branches[at].sibling;
	}
	for (uint32_t i = 0; is_valid && i < dpor->step_count; i++)
		is_valid = dpor_layout_reaches(reached, dpor_steps(dpor)[i].wakeup, count);
	for (uint32_t i = 0; is_valid && i < count; i++)
		if (!bitset_has(free, i))
			is_valid = dpor_layout_is_op(&branches[i].op) &&
				   dpor_layout_reaches(reached, branches[i].child, count) &&
				   dpor_layout_reaches(reached, branches[i].sibling, count);
	return is_valid;
}

bool dpor_is_valid(void *state, const struct strategy_config *config)
{
	struct dpor *dpor = state;
	struct dpor expected;
	uint32_t steps;

	(void)dpor_lay_out(config, &expected);
	if (!dpor_layout_has_layout(dpor, &expected) || !dpor_layout_has_counts(dpor) ||
		!dpor_layout_has_flags(dpor) ||
		!dpor_layout_has_shares(&dpor->share, &expected.share) ||
		!dpor_layout_has_groups(&dpor->symmetry, &expected.symmetry))
		return false;
	steps = dpor->depth > dpor->step_count ? dpor->depth : dpor->step_count;
	return dpor_layout_has_steps(dpor, steps) && dpor_layout_has_threads(dpor, steps) &&
	       dpor_layout_has_trees(dpor);
}
