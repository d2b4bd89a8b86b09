#include "runtime/sampling.h"

#include "base/hot_state.h"
#include "runtime/memory_variable.h"
#include "runtime/quick.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"

/* More than WAITING_VISITS (memory_waits.c): waiting loops are found before their sites rest. */
#define LOOKS_FIRST 1024
#define LOOKS_LATER 128
#define LOOKS_KEPT UINT16_MAX
#define STEPS_FIRST 64
/* A run of fewer accesses is not sampled: it takes some milliseconds. */
#define ACCESSES_FIRST 1000000
/* From this run on, profiling runs at its multiples and behind them are not sampled. */
#define WHOLE_EVERY 64

static HOT_STATE struct {
	bool is_on;
	uint32_t thread_count; /* threads that have accessed memory have smaller indices */
	uint64_t wake_step;    /* number of the step at which resting sites are on again */
} sampling;

/* Returns whether the run examines every access. The next run learns which sites touch the points
 * that such a run has found; with rounds it is the first of its round. */
static bool sampling_is_whole(const struct contract *contract)
{
	const uint64_t number = contract->run_number;

	return number >= WHOLE_EVERY &&
	       (number % WHOLE_EVERY <= 1 ||
		       (contract->plan.round_runs && number == contract->plan.round_first));
}

/* Exhaustive strategies need the same points whenever they repeat a prefix. Threads that wait by
 * reading are found only where sites are on. */
static bool sampling_is_possible(const struct contract_memory *memory)
{
	const struct contract_plan *plan = &runtime.contract->plan;

	return memory && memory->mode == MEMORY_LEARN && memory->was_profile &&
	       !memory->is_frozen && !sampling_is_whole(runtime.contract) &&
	       sites_are_live == SITES_QUICK && !strategies[plan->strategy]->search.is_exhausted &&
	       !runtime.contract->spin.is_needed && !memory_has_waited(memory);
}

void sampling_begin_run(void)
{
	sampling.is_on = sampling_is_possible(sites_memory());
	sampling.thread_count = 0;
	sampling.wake_step = STEPS_FIRST;
}

static void sampling_wake(struct contract_memory *memory, uint32_t thread)
{
	if (thread >= sampling.thread_count)
		sampling.thread_count = thread + 1;
	while (sampling.wake_step <= engine_step())
		sampling.wake_step *= 2;
	for (uint32_t i = 0; i < memory->site_count; i++)
		if (memory->sites[i] & SITE_RESTED)
			memory->looks[i] = LOOKS_FIRST - LOOKS_LATER;
	(void)sites_apply(); /* if it fails, the contract has the reason */
}

static bool sampling_counts(uint8_t kind)
{
	return kind <= SITE_STORE || memory_kind_is_range(kind);
}

static void sampling_count(const struct site_record *record, uint8_t *state)
{
	struct contract_memory *memory = sites_memory();
	const uint32_t thread = engine_current()->id.index;
	uint16_t *looks;

	if (thread >= sampling.thread_count || engine_step() >= sampling.wake_step)
		sampling_wake(memory, thread);
	if (!state)
		return;
	looks = &memory->looks[state - memory->sites];
	if (*looks < LOOKS_FIRST)
		++*looks;
	if (*looks != LOOKS_FIRST || memory->visits < ACCESSES_FIRST)
		return;
	*state = (uint8_t)((*state & ~SITE_ON) | SITE_RESTED);
	site_turn_off(record);
}

void sampling_note(const struct site_record *record, uint8_t *state)
{
	if (sampling.is_on && !runtime.is_forked_child && sampling_counts(record->kind))
		sampling_count(record, state);
}

void sampling_keep(struct contract_memory *memory, const uint8_t *state)
{
	if (sampling.is_on && state)
		memory->looks[state - memory->sites] = LOOKS_KEPT;
}
