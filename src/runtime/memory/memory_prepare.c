/*
 * Before a run, makes the knowledge about memory effective: shared variables become points, and
 * sites are switched on or off.
 *
 * A *profiling run* has all sites on, to find rare code paths and late sharing. Profiling runs are
 * the first few runs, each run after new points were learnt, and some later ones. How many depends on
 * their cost, which grows with the private accesses of a run: those that are no points. Below 64, all
 * sites are on in every run, because any run may be the only one in which threads share a variable, or use
 * it after its free. Below 4,096, blocks of 64 runs are profiled, beginning with the first: half of the
 * blocks below 128, a quarter below 256, and so on. Else, one run in 64 is profiled, and fewer later.
 * Any other run has on the sites that have touched a point, and the sites not reached yet, which
 * cost nothing.
 *
 * An exhaustive search has all sites on in each run. Two threads may access a variable in only one order of
 * the program, which the search reaches late. If a site of these accesses were off in that run, the variable
 * would not become a point, and the search would miss orders. The search that the default strategy makes
 * beside random runs is made with some sites off first, and then again with all sites on.
 *
 * If the command has chosen the variables, the sites that may touch them are on. Sites where
 * threads have spun are also on, because spinning must be seen. After the timer of spin.c has
 * detected a spinning thread, the other sites are on, as if the command had chosen nothing.
 */
#include "abi/memory_settle.h"
#include "model/watched_runs.h"
#include "base/bitset.h"
#include "detectors/detector.h"
#include "runtime/memory/memory_internal.h"
#include "runtime/memory.h"
#include "runtime/memory_variable.h"
#include "runtime/record.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"

/* Number of profiling runs at the start. They show in turn which threads touch which variables, and
 * which sites touch shared ones; the third is a reserve. */
#define PROFILE_RUNS_FIRST 3
/* Interval of later profiling runs: about 2 % of the runs. After run 1024 the interval grows: each doubling of the run number brings
 * 8 to 16 profiling runs. */
#define PROFILE_EVERY 64
#define PROFILES_OF_ALL 16

bool memory_watches_run(uint64_t number)
{
	const struct contract_memory *memory = sites_memory();
	const struct contract_plan *plan = &runtime.contract->plan;

	return watched_runs_has(number, plan->runs_before + (number - plan->round_first),
		memory && memory->mode == MEMORY_RACY_SITES);
}

/* Returns whether all sites are on in every run. */
static bool memory_prepare_is_cheap(const struct contract_memory *memory)
{
	return !memory->profile_cost &&
	       (memory->mode == MEMORY_LEARN || memory->mode == MEMORY_RACES);
}

static bool memory_prepare_profile_is_due(const struct contract_memory *memory, uint64_t number)
{
	uint64_t every = PROFILE_EVERY;

	if (memory->profile_cost <= PROFILE_COST_MOST)
		return number / PROFILE_EVERY % (UINT64_C(1) << memory->profile_cost) == 0;
	while (every * PROFILES_OF_ALL < number)
		every *= 2;
	return number % every == 0;
}

/* Fills `groups` with the points-to groups that the focused objects may belong to. */
static void memory_focus_groups(const struct contract_memory *memory, uint64_t *groups)
{
	for (uint32_t word = 0; word < MEMORY_GROUPS_MAX / 64; word++)
		groups[word] = 0;
	for (uint32_t i = 0; i < memory->focus_count; i++)
		for (uint32_t word = 0; word < BITSET_WORDS(memory->group_count); word++)
			groups[word] |= memory->overlaps[memory->focus[i]][word];
}

/* Returns whether a site in this state is on in a run that is no profiling run. */
static bool memory_prepare_site_is_needed(const struct contract_memory *memory, uint8_t state)
{
	const bool has_choice = memory->mode == MEMORY_CHOSEN || memory->mode == MEMORY_RACY_SITES;

	if (memory->mode == MEMORY_NONE || memory->mode == MEMORY_ALL)
		return memory->mode == MEMORY_ALL;
	if (has_choice && state & (SITE_CHOSEN | SITE_WAITED))
		return true;
	if (has_choice && !runtime.contract->spin.is_needed)
		return !(state & SITE_SEEN);
	return state & SITE_SHARED || !(state & SITE_SEEN) || memory->has_all_sites ||
	       memory_prepare_is_cheap(memory) ||
	       strategies[runtime.contract->plan.strategy]->search.is_exhausted;
}

void memory_choose_sites(struct contract_memory *memory, bool is_profile)
{
	const bool is_partial = memory->is_partial && !is_profile;
	uint64_t groups[MEMORY_GROUPS_MAX / 64];

	if (is_partial)
		memory_focus_groups(memory, groups);
	memory->sites_on = 0;
	for (uint32_t i = 0; i < memory->site_count; i++) {
		uint8_t *state = &memory->sites[i];
		bool is_on = is_profile ? memory->mode != MEMORY_NONE : *state & SITE_KEPT;

		if (is_partial)
			is_on = *state & SITE_STANDS || !memory->groups[i] ||
				bitset_has(groups, memory->groups[i] - 1u);
		*state = (uint8_t)((*state & ~(SITE_ON | SITE_RESTED)) | (is_on ? SITE_ON : 0));
		memory->looks[i] = 0;
		memory->sites_on += is_on;
	}
}

/* Applies a new version to the sites. Returns whether sites must be chosen anew. */
static bool memory_prepare_version(struct contract_memory *memory)
{
	bool has_changed = false;

	memory->run_version = memory->version;
	memory->knows_waiting = 0;
	for (uint32_t i = 0; i < memory->site_count; i++) {
		const uint8_t old = memory->sites[i];
		const bool is_racy =
			memory->mode == MEMORY_RACY_SITES && bitset_has(memory->racy_sites, i);
		const uint8_t before = (uint8_t)(old | (is_racy ? SITE_CHOSEN : 0));
		const bool is_on = memory_prepare_site_is_needed(memory, before);

		memory->knows_waiting |= before & SITE_WAITED;
		memory->sites[i] =
			(uint8_t)((before & ~(SITE_KEPT | SITE_STANDS)) | (is_on ? SITE_KEPT : 0) |
				  (before & SITE_WAITED ? SITE_STANDS : 0));
		has_changed |= memory->sites[i] != old;
	}
	return has_changed;
}

/* `is_new`: the run is this process's first one by its version. */
static bool memory_prepare_is_profile(
	const struct contract_memory *memory, uint64_t number, bool is_new)
{
	const struct contract_plan *plan = &runtime.contract->plan;
	const bool has_new_points = memory->points_version == memory->version && memory->version;

	if (memory->mode == MEMORY_RACY_SITES)
		return memory_watches_run(number);
	if (!memory_prepare_is_cheap(memory) && memory_prepare_profile_is_due(memory, number))
		return true;
	/* The run learns which sites touch the new points. */
	if (plan->round_runs)
		return plan->runs_before + (number - plan->round_first) < PROFILE_RUNS_FIRST ||
		       (has_new_points && number == plan->round_first);
	return memory->profile_runs < PROFILE_RUNS_FIRST || (has_new_points && is_new);
}

void memory_prepare_run(uint64_t number)
{
	struct contract_memory *memory = sites_memory();
	bool is_new, is_profile, must_choose;

	if (!memory || !runtime.contract->has_memory_sites)
		return;
	memory_next_epoch(memory);
	memory_forget_strangers();
	memory->visits = 0;
	memory->failed_site = 0;
	if (memory->is_frozen)
		return;
	if (!runtime.contract->plan.round_runs && (memory->news_count || memory->has_site_news) &&
		memory_settle(memory))
		memory_forget_seen_sites(memory);
	is_new = memory->run_version != memory->version;
	must_choose = is_new && memory_prepare_version(memory);
	is_profile = memory_prepare_is_profile(memory, number, is_new);
	memory->profile_runs += is_profile;
	/* A run of low cost has no resting sites, which would have to be turned on again. */
	must_choose |= is_profile != memory->was_profile ||
		       (is_profile && memory->noted_cost > PROFILE_COST_MOST);
	if (must_choose) {
		memory_choose_sites(memory, is_profile);
		memory->must_switch = true;
	}
	memory->was_profile = is_profile;
}

void memory_switch_sites(void)
{
	struct contract_memory *memory = sites_memory();

	if (memory && memory->must_switch)
		(void)sites_apply(); /* if it fails, the contract has the reason */
	if (memory)
		memory->must_switch = false;
}

bool memory_has_waited(const struct contract_memory *memory)
{
	return memory->knows_waiting;
}

bool memory_has_news(void)
{
	const struct contract_memory *memory = sites_memory();

	return memory && runtime.contract->has_memory_sites && !memory->is_frozen &&
	       memory->newly_shared;
}

bool memory_take_change(void)
{
	struct contract_memory *memory = sites_memory();
	const bool has_changed = memory && memory->searched_version != memory->points_version;

	if (memory)
		memory->searched_version = memory->points_version;
	return has_changed;
}

/* Returns whether the site must stay on. Atomics order other accesses: a race detector must see
 * each of them. A write that is not seen would overtake the stores in the store buffer, and an atomic
 * that is not seen would order nothing under c11. */
static bool memory_prepare_site_is_watched(uint8_t kind)
{
	const struct contract_plan *plan = &runtime.contract->plan;

	if (sites_memory()->mode == MEMORY_RACY_SITES && memory_kind_is_atomic(kind))
		return true;
	return sites_memory()->mode != MEMORY_NONE &&
	       ((plan->detectors >> DETECTOR_race & 1 && memory_kind_is_atomic(kind)) ||
		       (plan->memory_model == MEMORY_MODEL_C11 && memory_kind_is_atomic(kind)) ||
		       (plan->memory_model != MEMORY_MODEL_SC && site_kind_writes(kind)));
}

static bool memory_prepare_site_is_on(const struct site_record *record, uint8_t *state)
{
	const uint8_t kind = record->kind;

	if (record_is_on())
		return kind != SITE_FUNCTION_EXIT;
	if (kind > SITE_OPAQUE)
		return false;
	if (kind >= SITE_FUNCTION_ENTRY)
		return runtime.contract->plan.has_contexts && kind != SITE_OPAQUE;
	/* A watched site is a scheduling point, so replays without the detector need it too. */
	if (memory_prepare_site_is_watched(kind))
		*state |= SITE_ON;
	/* The loop would run until its thread is taken off the processor: only other threads end it. */
	if (sites_memory()->is_partial && site_record_waits(record))
		*state |= SITE_ON;
	return *state & (SITE_ON | SITE_RESTED);
}

bool sites_apply(void)
{
	return sites_switch(memory_prepare_site_is_on);
}
