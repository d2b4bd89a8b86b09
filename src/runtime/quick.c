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

/* The counter is one of 32 bits. */
#define EPISODES_MOST (UINT64_C(0xf0000000) * ENGINE_EPISODE)

/* Of this run. Written as it begins. */
static struct {
	struct contract_memory *memory;
	void *race; /* state of the detector */
} quick;

static void quick_renew(struct contract_quick *block)
{
	if (block->episode >= EPISODES_MOST) {
		for (unsigned i = 0; i < QUICK_PLACES; i++)
			block->entries[i][0].key = block->entries[i][1].key = 0;
		block->episode = 0;
	}
	block->episode += ENGINE_EPISODE;
}

void quick_begin_run(void)
{
	struct contract_memory *memory = sites_memory();
	struct contract_quick *block;

	sites_are_live = SITES_LIVE;
	engine_count_episodes(NULL);
	quick.race = runtime_detects_quickly();
	if (!memory || !quick.race || memory->mode != MEMORY_RACES ||
		runtime.contract->plan.has_contexts || record_is_on())
		return;
	quick.memory = memory;
	block = &memory->quick;
	quick_renew(block);
	block->left = ACCESSES_BETWEEN;
	block->watched = 0;
	sites_quick = block;
	engine_count_episodes(&block->episode);
	sites_are_live = SITES_QUICK;
}

void quick_forget(void)
{
	if (sites_are_live == SITES_QUICK)
		quick_renew(sites_quick);
}

void quick_remember(uint64_t address, uint32_t properties)
{
	struct contract_quick *block = sites_quick;

	if (sites_are_live != SITES_QUICK || block->watched)
		return;
	*quick_entry(block, address, properties) =
		(struct quick_entry){.address = address, .key = block->episode | properties};
}

/* Is it time for memory.c to see some? */
static bool quick_is_watched(struct contract_quick *block)
{
	if (--block->left < 0) {
		quick_renew(block);
		block->left = ACCESSES_BETWEEN;
		block->watched = ACCESSES_WATCHED;
	}
	if (!block->watched)
		return false;
	block->watched--;
	return true;
}

/* Has nothing to be learnt of it? */
static bool quick_is_known(const struct memory_known *known, uint8_t state, bool is_write)
{
	const uint16_t way = is_write ? VARIABLE_WRITTEN : VARIABLE_READ;

	if (known->flags & VARIABLE_POINT)
		return state & SITE_SHARED;
	return state & SITE_SEEN && known->slot != MEMORY_NO_VARIABLE && known->flags & way &&
	       known->thread == engine_current()->name;
}

bool quick_passes(uint64_t address, uint32_t properties, uint64_t site, uint8_t *state)
{
	const bool is_write = properties & 1;
	const uint32_t bytes = properties >> 16;
	const uint64_t granule = address / GRANULE_BYTES;
	struct memory_known *known = &quick.memory->known[granule % MEMORY_KNOWN_MAX];

	if (quick_is_watched(sites_quick) || address % GRANULE_BYTES + bytes > GRANULE_BYTES ||
		known->granule != granule || known->epoch != quick.memory->known_epoch ||
		known->flags & VARIABLE_RACY || memory_turn_is_wanted() || runtime.is_run_over)
		return false;
	if (!quick.memory->is_frozen &&
		!quick_is_known(known, state ? *state : SITE_SEEN | SITE_SHARED, is_write))
		return false;
	if (known->flags & VARIABLE_POINT) {
		const struct race_plain access = {.address = address,
			.site = site,
			.step = engine_step(),
			.object = known->name,
			.thread = engine_current()->id.index,
			.bytes = (uint8_t)bytes,
			.is_write = is_write};

		engine_tell_rest();
		if (!race_passes_plain(quick.race, &access, &known->shadow))
			return false;
	}
	quick_remember(address, properties);
	return true;
}
