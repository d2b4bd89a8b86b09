/* See quick.h. Runs in the moving thread, on the path of every access: general registers only. */
#include "runtime/quick.h"

#include "detectors/race.h"
#include "runtime/contexts.h"
#include "runtime/memory_variable.h"
#include "runtime/record.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"

/*
 * A thread may wait in a loop for memory that nobody accesses atomically. memory.c finds that out if it sees
 * the loop's accesses: so it is shown enough of them for one that passes WAITING_VISITS times, every so often,
 * which costs little and ends such a loop within some milliseconds.
 */
#define ACCESSES_BETWEEN (1 << 20)
#define ACCESSES_WATCHED 4096

/* Numbers that end: then the table is cleared, and they begin again. */
#define EPISODES_MOST (UINT64_C(0x7f000000) * ENGINE_EPISODE)
#define OWNERSHIPS_MOST (UINT64_C(1) << 18)
#define OWNERSHIP (THREAD_CAPACITY * ENGINE_EPISODE)

/* Forgetting more bytes one by one costs more than looking again at all own memory. */
#define FORGOTTEN_MOST 512

/* Of this run. Written as it begins. */
static struct {
	struct contract_memory *memory;
	void *race;	  /* state of the detector */
	uint32_t watched; /* accesses that are still looked at: set in the run, too */
	bool is_filtered; /* for focus.h: no detector is told */
} quick;

static void quick_clear(struct contract_quick *block)
{
	for (unsigned i = 0; i < QUICK_PLACES; i++)
		block->entries[i][0].key = block->entries[i][1].key = 0;
}

static void quick_next_episode(struct contract_quick *block)
{
	if (block->episode >= EPISODES_MOST) {
		quick_clear(block);
		block->episode = 0;
	}
	sites_now.engine.episode = block->episode += ENGINE_EPISODE;
}

static void quick_next_ownership(struct contract_quick *block)
{
	if (++block->ownership >= OWNERSHIPS_MOST) {
		quick_clear(block);
		block->ownership = 0;
	}
	sites_now.engine.turn = 0;
}

void quick_begin_run(void)
{
	struct contract_memory *memory = sites_memory();
	struct contract_quick *block;

	sites_are_live = SITES_LIVE;
	engine_count_episodes(NULL);
	quick.race = runtime_detects_quickly();
	if (!memory)
		return;
	sites_quick = block = &memory->quick;
	quick_next_episode(block);
	quick_next_ownership(block);
	quick.is_filtered = memory->mode == MEMORY_LEARN && memory->is_filtered;
	if (runtime.contract->plan.has_contexts || record_is_on() ||
		!(quick.is_filtered || (quick.race && memory->mode == MEMORY_RACES)))
		return;
	quick.memory = memory;
	quick.watched = 0;
	sites_now.left = ACCESSES_BETWEEN;
	sites_now.engine.latest = &block->episode;
	engine_count_episodes(&sites_now.engine);
	sites_are_live = SITES_QUICK;
}

void quick_resume_run(void)
{
	const struct contract_memory *memory = sites_memory();

	if (memory && memory->mode == MEMORY_LEARN)
		quick_begin_run();
}

void quick_forget_all(void)
{
	if (sites_are_live != SITES_QUICK)
		return;
	quick_next_episode(sites_quick);
	quick_next_ownership(sites_quick);
}

void quick_forget(uint64_t start, uint64_t bytes)
{
	struct contract_quick *block = sites_quick;

	if (sites_are_live != SITES_QUICK)
		return;
	quick_next_episode(block);
	if (bytes > FORGOTTEN_MOST) {
		quick_next_ownership(block);
		return;
	}
	/* Accesses that begin before it, too. */
	for (uint64_t at = (start - QUICK_BYTES_MOST) / 4; at < (start + bytes + 3) / 4; at++)
		block->entries[at % QUICK_PLACES][0].key =
			block->entries[at % QUICK_PLACES][1].key = 0;
}

void quick_remember(uint64_t address, uint32_t properties, bool is_own)
{
	struct contract_quick *block = sites_quick;
	uint64_t key;

	if (sites_are_live != SITES_QUICK || quick.watched)
		return;
	key = sites_now.engine.episode;
	/* Where all indices of threads are in use, they are used again. */
	if (is_own && engine_thread_count() < THREAD_CAPACITY)
		key = sites_now.engine.turn = QUICK_OWN | block->ownership * OWNERSHIP |
					      engine_current()->id.index * ENGINE_EPISODE;
	*quick_entry(block, address, properties) =
		(struct quick_entry){.address = address, .key = key | properties};
}

/* Is it time for memory.c to see some? */
static bool quick_is_watched(void)
{
	if (--sites_now.left < 0) {
		quick_forget_all();
		sites_now.left = ACCESSES_BETWEEN;
		quick.watched = ACCESSES_WATCHED;
	}
	if (!quick.watched)
		return false;
	quick.watched--;
	return true;
}

/* What lies at the address, where there is nothing to be learnt from the access; else NULL. */
static struct memory_known *quick_known(uint64_t address, uint8_t state, bool is_write)
{
	const uint16_t way = is_write ? VARIABLE_WRITTEN : VARIABLE_READ;
	const uint64_t granule = address / GRANULE_BYTES;
	struct memory_known *known = &quick.memory->known[granule % MEMORY_KNOWN_MAX];

	if (known->granule != granule || known->epoch != quick.memory->known_epoch ||
		known->flags & VARIABLE_RACY)
		return NULL;
	/* memory.c looks at these once: which sites touch them is learnt, the same in every process. */
	if (quick.is_filtered && known->flags & VARIABLE_POINT)
		return NULL;
	if (quick.memory->is_frozen)
		return known;
	if (known->flags & VARIABLE_POINT)
		return state & SITE_SHARED ? known : NULL;
	return state & SITE_SEEN && known->slot != MEMORY_NO_VARIABLE && known->flags & way &&
			       known->thread == engine_current()->name
		       ? known
		       : NULL;
}

/* The end of the part of an access that begins at `at` and lies in eight aligned bytes. */
static uint64_t quick_part_end(uint64_t at, uint64_t end)
{
	const uint64_t next = (at | (GRANULE_BYTES - 1)) + 1;

	return next < end ? next : end;
}

/* Tells the detector of the parts that are shared. False: of one of them it wants to know more. */
static bool quick_tell(uint64_t address, uint64_t end, uint64_t site, bool is_write)
{
	struct race_plain access = {.site = site,
		.step = engine_step(),
		.thread = engine_current()->id.index,
		.is_write = is_write};

	engine_tell_rest();
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
	const uint8_t seen = state ? *state : SITE_SEEN | SITE_SHARED;
	const bool is_write = properties & 1;
	const uint64_t end = address + (properties >> 16);
	bool is_shared = false;

	if (quick_is_watched() || end - address > QUICK_BYTES_MOST || memory_turn_is_wanted() ||
		runtime.is_run_over)
		return false;
	for (uint64_t at = address; at < end; at = quick_part_end(at, end)) {
		const struct memory_known *known = quick_known(at, seen, is_write);

		if (!known)
			return false;
		is_shared |= (known->flags & VARIABLE_POINT) != 0;
	}
	if (is_shared && !quick_tell(address, end, site, is_write))
		return false;
	quick_remember(address, properties, !is_shared);
	return true;
}
