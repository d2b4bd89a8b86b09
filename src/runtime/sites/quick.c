/* Runs in the moving thread, on the path of every access, with general registers only. */
#include "runtime/quick.h"

#include "base/hot_state.h"
#include "detectors/race.h"
#include "runtime/filter.h"
#include "runtime/memory_variable.h"
#include "runtime/record.h"
#include "runtime/runtime.h"
#include "runtime/sampling.h"
#include "runtime/sites.h"

/* memory.c detects loops of plain reads only if it examines the accesses. The first
 * ACCESSES_WATCHED accesses of a run go to memory.c, enough for WAITING_VISITS iterations, and so do
 * as many at each later period. Periods grow from the first value to the second. A replay examines
 * the same accesses, because both paths count each access that is no point exactly once. */
#define PERIOD_FIRST (1 << 14)
#define PERIOD_MOST (1 << 20)
#define ACCESSES_WATCHED 4096
/* A thread that waits is watched for this part of a period, so that its steps soon reach the end of
 * a busy period (clock.c). A computation that resembles a wait stays fast in the other part. */
#define WAITING_PART 8

/* Bounds of the numbers in keys and tags, at which the table is cleared. */
#define EPOCHS_MOST (UINT64_C(0x7f000000) * ENGINE_EPOCH)
#define OWNERSHIPS_MOST (UINT64_C(1) << 18)
#define OWNERSHIP (THREAD_CAPACITY * ENGINE_EPOCH)
#define TAGS_MOST (UINT64_C(1) << 19)

/* The whole table is invalidated above these sizes. */
#define FORGOTTEN_MOST 512
#define FORGOTTEN_GRANULES_MOST 4096

/* Written when the run begins. */
static HOT_STATE struct {
	struct contract_memory *memory;
	void *race;
	uint32_t watched; /* accesses that still go to memory.c */
	/* Accesses of the run that are no points, rounded down to a power of two. The count ends at
	 * PERIOD_FIRST. */
	uint32_t accesses;
	int32_t period; /* accesses of the current period, whose first ones go to memory.c */
	/* No detector wants accesses that are no points: granules are used */
	bool is_plain;
	bool has_racy_sites; /* MEMORY_RACY_SITES: the site decides whether an access is a point */
	uint32_t generation;
} quick;

static struct {
	uint32_t generation;
	uint32_t tag; /* valid in that generation */
} quick_tags[THREAD_CAPACITY];

static void quick_clear(struct contract_quick *block)
{
	for (unsigned i = 0; i < QUICK_SETS; i++)
		block->entries[i][0].key = block->entries[i][1].key = 0;
}

static uint64_t quick_next_tag(struct contract_quick *block)
{
	if (++block->tag >= TAGS_MOST) {
		for (uint64_t i = 0; i < QUICK_GRANULES; i++) {
			block->granules[0][i] = block->granules[1][i] = 0;
			/* Keeps the compiler from calling memset() */
			__asm__ volatile("" ::: "memory");
		}
		block->tag = 1;
		quick.generation++;
		sites_now.point_tag = sites_now.engine.slice_tag = ENGINE_NO_TAG;
	}
	return block->tag;
}

static void quick_drop_tags(void)
{
	quick.generation++;
	sites_now.point_tag = sites_now.engine.slice_tag = ENGINE_NO_TAG;
}

/* Granules about which nothing more is learnt from the moving thread. */
static uint64_t quick_own_tag(struct contract_quick *block)
{
	const uint32_t thread = engine_current()->id.index;

	if (quick_tags[thread].generation != quick.generation) {
		quick_tags[thread].tag = (uint32_t)quick_next_tag(block);
		quick_tags[thread].generation = quick.generation;
	}
	return quick_tags[thread].tag * QUICK_TAG;
}

static void quick_next_epoch(struct contract_quick *block)
{
	if (block->epoch >= EPOCHS_MOST) {
		quick_clear(block);
		block->epoch = 0;
	}
	sites_now.engine.epoch = block->epoch += ENGINE_EPOCH;
}

static void quick_next_ownership(struct contract_quick *block)
{
	if (++block->ownership >= OWNERSHIPS_MOST) {
		quick_clear(block);
		block->ownership = 0;
	}
	sites_now.engine.slice_key = 0;
}

/* Returns whether the strategy grants leases, and every access that is no point can be ignored. */
static bool quick_wants_lease(const struct contract_memory *memory)
{
	const struct contract_plan *plan = &runtime.contract->plan;

	return memory->mode == MEMORY_LEARN && strategies[plan->strategy]->fast_path.lease &&
	       !memory->was_profile && !memory->is_frozen && !plan->is_traced && !plan->inspect &&
	       !memory_has_waited(memory) && plan->executor == EXECUTOR_FIBER;
}

static bool quick_runs_without_reports(const struct contract_memory *memory, bool is_filtered)
{
	const struct contract_plan *plan = &runtime.contract->plan;

	if (memory->mode == MEMORY_RACY_SITES && runtime_looks_for_races())
		return false;
	return (memory->mode == MEMORY_LEARN || memory->mode == MEMORY_RACY_SITES) &&
	       (is_filtered || (!plan->is_traced && !plan->inspect));
}

/* Prepares the table for a run, or for the part of a run that follows a checkpoint. */
static void quick_begin_part(void)
{
	const struct contract_plan *plan = &runtime.contract->plan;
	struct contract_memory *memory = sites_memory();
	struct contract_quick *block;
	bool is_filtered, wants_lease;

	sites_are_live = SITES_LIVE;
	engine_count_epochs(NULL);
	sites_now.engine.wants_lease = false;
	sites_now.engine.lease = 0;
	filter_begin_run(NULL, false);
	quick.race = runtime_detects_quickly();
	if (!memory)
		return;
	sites_quick = block = &memory->quick;
	quick_next_epoch(block);
	quick_next_ownership(block);
	quick_drop_tags();
	is_filtered = memory->mode == MEMORY_LEARN && memory->is_filtered;
	wants_lease = quick_wants_lease(memory);
	quick.is_plain = quick_runs_without_reports(memory, is_filtered);
	quick.has_racy_sites = memory->mode == MEMORY_RACY_SITES;
	if (plan->has_contexts || record_is_on() || plan->memory_model != MEMORY_MODEL_SC ||
		!(quick.is_plain || (quick.race && memory_mode_needs_races(memory->mode))))
		return;
	filter_begin_run(memory, is_filtered);
	sites_now.engine.wants_lease = wants_lease;
	sites_now.engine.is_focused = is_filtered;
	quick.memory = memory;
	sites_now.engine.latest = &block->epoch;
	engine_count_epochs(&sites_now.engine);
	sites_are_live = SITES_QUICK;
}

void quick_begin_run(void)
{
	const struct contract_memory *memory = sites_memory();

	quick.period = PERIOD_FIRST;
	quick.accesses = 0;
	sites_now.left = (int32_t)PROFILE_COST_ACCESSES;
	quick.watched = memory && memory->mode == MEMORY_LEARN ? ACCESSES_WATCHED : 0;
	quick_begin_part();
	sampling_begin_run();
}

void quick_resume_run(void)
{
	const struct contract_memory *memory = sites_memory();

	if (memory && memory->mode == MEMORY_LEARN)
		quick_begin_part();
}

void quick_forget_all(void)
{
	if (sites_are_live != SITES_QUICK)
		return;
	quick_next_epoch(sites_quick);
	quick_next_ownership(sites_quick);
	quick_drop_tags();
}

static void quick_forget_granules(struct contract_quick *block, uint64_t start, uint64_t bytes)
{
	const uint64_t first = start >> QUICK_GRANULE_BITS;
	const uint64_t last = (start + bytes - 1) >> QUICK_GRANULE_BITS;

	if (last - first >= FORGOTTEN_GRANULES_MOST) {
		quick_drop_tags();
		return;
	}
	for (uint64_t granule = first; granule <= last; granule++) {
		*quick_granule(block, granule, SITE_LOAD) = 0;
		*quick_granule(block, granule, SITE_STORE) = 0;
		__asm__ volatile("" ::: "memory"); /* keeps the compiler from calling memset() */
	}
}

void quick_forget(uint64_t start, uint64_t bytes)
{
	struct contract_quick *block = sites_quick;

	if (sites_are_live != SITES_QUICK)
		return;
	if (quick.is_plain) {
		if (bytes)
			quick_forget_granules(block, start, bytes);
		return;
	}
	quick_next_epoch(block);
	if (bytes > FORGOTTEN_MOST) {
		quick_next_ownership(block);
		return;
	}
	/* Includes entries of accesses that begin before the range. */
	for (uint64_t at = (start - QUICK_BYTES_MOST) / 4; at < (start + bytes + 3) / 4; at++)
		block->entries[at % QUICK_SETS][0].key = block->entries[at % QUICK_SETS][1].key = 0;
}

static void quick_put_granules(
	struct contract_quick *block, uint64_t address, uint32_t properties, uint64_t tag)
{
	const uint64_t last = (address + (properties >> 16) - 1) >> QUICK_GRANULE_BITS;

	for (uint64_t at = address >> QUICK_GRANULE_BITS; at <= last; at++)
		*quick_granule(block, at, properties) = at ^ tag;
}

void quick_remember_point(uint64_t address, uint32_t properties)
{
	struct contract_quick *block = sites_quick;

	if (sites_now.engine.lease <= 0)
		return;
	if (sites_now.point_tag == ENGINE_NO_TAG)
		sites_now.point_tag = quick_next_tag(block) * QUICK_TAG;
	/* The granules permit reads and writes. */
	quick_put_granules(block, address, properties | 1, sites_now.point_tag);
	quick_put_granules(block, address, properties & ~1u, sites_now.point_tag);
}

void quick_remember(uint64_t address, uint32_t properties, bool is_own)
{
	struct contract_quick *block = sites_quick;
	uint64_t key;

	if (sites_are_live != SITES_QUICK || quick.watched)
		return;
	if (quick.is_plain) {
		if (is_own && engine_thread_count() < THREAD_CAPACITY) {
			sites_now.engine.slice_tag = quick_own_tag(block);
			quick_put_granules(block, address, properties, sites_now.engine.slice_tag);
		}
		return;
	}
	/* At another site the same access may be a point. */
	if (!is_own && quick.has_racy_sites)
		return;
	key = sites_now.engine.epoch;
	/* Reused thread indices: a key could belong to two threads. */
	if (is_own && engine_thread_count() < THREAD_CAPACITY)
		key = sites_now.engine.slice_key = QUICK_OWN | block->ownership * OWNERSHIP |
						   engine_current()->id.index * ENGINE_EPOCH;
	*quick_entry(block, address, properties) =
		(struct quick_entry){.address = address, .key = key | properties};
}

void quick_remember_range(uint64_t address, uint64_t bytes, bool is_write)
{
	if (quick.is_plain && bytes && bytes <= QUICK_RANGE_MOST)
		quick_remember(
			address, quick_properties(is_write, SITE_RELAXED, (uint16_t)bytes), true);
}

bool quick_has_reports(void)
{
	return !quick.is_plain;
}

/* Notes the cost of a run that has made this number of accesses to memory of one thread. */
static void quick_note_cost(struct contract_memory *memory, uint32_t accesses)
{
	uint32_t cost = 0;

	while (cost <= PROFILE_COST_MOST && accesses >= PROFILE_COST_ACCESSES << cost)
		cost++;
	if (memory->noted_cost < cost) {
		memory->noted_cost = cost;
		memory->has_site_news = 1;
	}
}

/* Called at the end of each period. The first period consists of parts; at the end of each part, the cost of the run
 * is noted. */
static void quick_end_period(void)
{
	struct contract_memory *memory = sites_memory();

	if (quick.accesses < PERIOD_FIRST) {
		quick.accesses += quick.accesses ? quick.accesses : PROFILE_COST_ACCESSES;
		quick_note_cost(memory, quick.accesses);
		sites_now.left = (int32_t)quick.accesses;
	}
	if (quick.accesses < PERIOD_FIRST)
		return;
	quick_forget_all();
	memory->visits += (uint32_t)quick.period;
	if (quick.period < PERIOD_MOST)
		quick.period *= 2;
	sites_now.left = quick.period;
	quick.watched = ACCESSES_WATCHED;
}

bool quick_watches(void)
{
	/* The thunk counts before it finds that the period is over. */
	if (sites_now.left < 0 || --sites_now.left < 0)
		quick_end_period();
	if (!quick.watched)
		return false;
	quick.watched--;
	return true;
}

void quick_watch_longer(void)
{
	if (quick.accesses < PERIOD_FIRST / WAITING_PART ||
		sites_now.left > quick.period - quick.period / WAITING_PART)
		quick.watched = ACCESSES_WATCHED;
}

/* Returns NULL if the access yields new information. */
static struct memory_known *quick_known(uint64_t address, uint8_t state, bool is_write)
{
	const uint16_t access = is_write ? VARIABLE_WRITTEN : VARIABLE_READ;
	const uint64_t granule = address / GRANULE_BYTES;
	struct memory_known *known = &quick.memory->known[granule % MEMORY_KNOWN_MAX];

	if (known->granule != granule || known->epoch != quick.memory->known_epoch ||
		known->flags & VARIABLE_RACY)
		return NULL;
	/* memory.c must see the first access to a point, to learn its site: in every process, so
	 * that their runs are equal. */
	if (quick.is_plain && known->flags & VARIABLE_POINT)
		return NULL;
	if (quick.memory->is_frozen)
		return known;
	if (known->flags & VARIABLE_POINT)
		return state & SITE_SHARED ? known : NULL;
	return state & SITE_SEEN && known->slot != MEMORY_NO_VARIABLE && known->flags & access &&
			       known->thread == engine_current()->name
		       ? known
		       : NULL;
}

/* Returns the end of the part of an access that lies in one granule. */
static uint64_t quick_part_end(uint64_t at, uint64_t end)
{
	const uint64_t next = (at | (GRANULE_BYTES - 1)) + 1;

	return next < end ? next : end;
}

/* Returns false if the race detector needs the full path. */
static bool quick_report_access(uint64_t address, uint64_t end, uint64_t site, bool is_write)
{
	struct race_plain access = {.site = site,
		.step = engine_step(),
		.thread = engine_current()->id.index,
		.is_write = is_write};

	engine_report_rest();
	for (uint64_t at = address, next; at < end; at = next) {
		struct memory_known *known =
			&quick.memory->known[at / GRANULE_BYTES % MEMORY_KNOWN_MAX];

		next = quick_part_end(at, end);
		access.address = at;
		access.object = known->name;
		access.bytes = (uint8_t)(next - at);
		if (known->flags & VARIABLE_POINT &&
			!race_passes_plain(quick.race, &access, &known->shadow))
			return false;
	}
	return true;
}

bool quick_passes(uint64_t address, uint32_t properties, uint64_t site, uint8_t *state)
{
	const uint8_t seen = state ? *state : SITE_SEEN | SITE_SHARED | SITE_CHOSEN;
	const bool is_write = properties & 1;
	const uint64_t end = address + (properties >> 16);
	bool is_shared = false;

	if (quick.watched || sites_now.left <= 0 || end - address > QUICK_BYTES_MOST ||
		memory_turn_is_wanted() || runtime.is_run_over ||
		(quick.has_racy_sites && seen & SITE_CHOSEN))
		return false;
	for (uint64_t at = address; at < end; at = quick_part_end(at, end)) {
		const struct memory_known *known = quick_known(at, seen, is_write);

		if (!known)
			return false;
		is_shared |= (known->flags & VARIABLE_POINT) != 0;
	}
	if (is_shared && (memory_may_be_gone((const void *)(uintptr_t)address) ||
				 !quick_report_access(address, end, site, is_write)))
		return false;
	sites_now.left--;
	quick_remember(address, properties, !is_shared);
	return true;
}

bool quick_passes_range(uint64_t address, uint64_t bytes, bool is_write)
{
	struct contract_quick *block = sites_quick;
	const uint64_t last = (address + bytes - 1) >> QUICK_GRANULE_BITS;
	bool is_point = false;

	if (!quick.is_plain || !bytes || bytes > QUICK_RANGE_MOST || sites_now.left <= 0)
		return false;
	for (uint64_t at = address >> QUICK_GRANULE_BITS; at <= last; at++) {
		const uint64_t tag = *quick_granule(block, at, is_write) ^ at;

		if (tag == sites_now.point_tag)
			is_point = true;
		else if (tag != sites_now.engine.slice_tag)
			return false;
	}
	if (is_point)
		return --sites_now.engine.lease >= 0;
	sites_now.left--;
	return true;
}
