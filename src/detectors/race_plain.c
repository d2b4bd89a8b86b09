/*
 * Fast path of the race detector: a plain access to a cell of exactly its bytes that was never
 * accessed atomically. The result equals that of race.c; all other cases return false and are left
 * to race.c.
 */
#include "detectors/race_internal.h"

static const struct shadow_granule *race_plain_granule(
	struct shadow *shadow, const struct race_plain *access, uint32_t *cache)
{
	const uint64_t number = access->address / SHADOW_GRANULE_BYTES;
	struct shadow_granule *granule = &shadow->granules[*cache];

	if (granule->number != number || granule->generation != shadow->generation) {
		granule = shadow_seek(shadow, number);
		if (!granule)
			return NULL;
		*cache = (uint32_t)(granule - shadow->granules);
	}
	return granule->name == access->object ? granule : NULL;
}

/* Returns the cell with exactly these bytes; NULL if none exists or it was accessed atomically. */
static struct shadow_cell *race_plain_cell(
	struct shadow *shadow, const struct shadow_granule *granule, uint8_t mask)
{
	uint32_t at = granule->cells;

	for (; at; at = shadow->cells[at].next) {
		struct shadow_cell *cell = &shadow->cells[at];

		if (cell->mask == mask)
			return cell->kinds & ~(1u << SHADOW_WRITE | 1u << SHADOW_READ) ? NULL
										       : cell;
		if (cell->mask & mask)
			return NULL;
	}
	return NULL;
}

/* Returns whether all accesses of this kind are the thread's own or happen before `now`. */
static bool race_plain_are_before(const struct race_state *state, const struct shadow_cell *cell,
	enum shadow_kind kind, const struct vector_clock *now, uint16_t thread)
{
	const struct shadow_accesses *accesses = &cell->last[kind];

	if (!(cell->kinds >> kind & 1))
		return true;
	if (!accesses->table)
		return accesses->one.thread == thread ||
		       accesses->one.clock <=
			       vector_clock_get(&state->pool, now, accesses->one.thread);
	return !shadow_unordered(accesses, &state->pool, now, NULL);
}

/* Returns whether the thread made an access of this kind in this epoch. */
static bool race_plain_is_there(const struct race_state *state, const struct shadow_cell *cell,
	enum shadow_kind kind, uint16_t thread, uint32_t clock)
{
	const struct shadow_accesses *accesses = &cell->last[kind];
	const struct shadow_access *last = &accesses->one;

	if (!(cell->kinds >> kind & 1))
		return false;
	if (accesses->table)
		last = shadow_of_thread(accesses, &state->pool, thread);
	return last && last->clock == clock && last->thread == thread;
}

bool race_passes_plain(void *block, const struct race_plain *access, uint32_t *cache)
{
	struct race_state *state = block;
	const struct race_thread *thread = &state->threads[access->thread];
	const unsigned offset = access->address % SHADOW_GRANULE_BYTES;
	const uint8_t mask = (uint8_t)(((1u << access->bytes) - 1) << offset);
	const enum shadow_kind kind = access->is_write ? SHADOW_WRITE : SHADOW_READ;
	const struct shadow_granule *granule;
	struct shadow_access made;
	struct shadow_cell *cell;
	uint32_t clock;

	if (state->is_blind || thread->generation != state->generation)
		return false;
	granule = race_plain_granule(&state->shadow, access, cache);
	cell = granule ? race_plain_cell(&state->shadow, granule, mask) : NULL;
	if (!cell)
		return false;
	clock = vector_clock_get(&state->pool, &thread->now, access->thread);
	if (race_plain_is_there(state, cell, SHADOW_WRITE, access->thread, clock) ||
		race_plain_is_there(state, cell, kind, access->thread, clock))
		return true;
	if (!race_plain_are_before(state, cell, SHADOW_WRITE, &thread->now, access->thread))
		return false;
	made = (struct shadow_access){.site = access->site,
		.thread = access->thread,
		.clock = clock,
		.step = shadow_step(access->step)};
	if (access->is_write) {
		if (!race_plain_are_before(state, cell, SHADOW_READ, &thread->now, access->thread))
			return false;
		shadow_forget(cell, &state->pool);
	}
	race_need(state, shadow_add(cell, kind, &state->pool, &thread->now, &made));
	return true;
}
