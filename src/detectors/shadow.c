#include "detectors/shadow.h"

#include <string.h>

#include "base/hash.h"

/*
 * Load limit of the hash table. Longer probe chains would cost more than leaving memory unwatched.
 */
#define GRANULES_MOST (SHADOW_GRANULES - SHADOW_GRANULES / 4)

void shadow_clear(struct shadow *shadow)
{
	/* The counter wraps around after four billion runs: old slots must be erased. */
	if (!++shadow->generation) {
		memset(shadow->granules, 0, sizeof shadow->granules);
		shadow->generation = 1;
	}
	shadow->granule_count = 0;
	shadow->cell_count = 1;
	shadow->free_cells = 0;
}

static struct shadow_access *shadow_table(
	const struct clock_pool *pool, const struct shadow_accesses *accesses)
{
	/* Arrays of the pool are aligned to 16 bytes, which struct shadow_access needs. */
	return (struct shadow_access *)(void *)&pool->words[accesses->table];
}

static uint32_t shadow_table_length(const struct shadow_accesses *accesses)
{
	return accesses->table_words / (uint32_t)SHADOW_ACCESS_WORDS;
}

static bool shadow_is_before(const struct shadow_access *access, const struct clock_pool *pool,
	const struct vector_clock *now)
{
	return access->clock <= vector_clock_get(pool, now, access->thread);
}

const struct shadow_access *shadow_unordered(const struct shadow_accesses *accesses,
	const struct clock_pool *pool, const struct vector_clock *now,
	const struct shadow_access *last)
{
	const struct shadow_access *table = shadow_table(pool, accesses);
	uint32_t length = shadow_table_length(accesses);

	if (!accesses->table)
		return last || shadow_is_before(&accesses->one, pool, now) ? NULL : &accesses->one;
	for (uint32_t i = last ? (uint32_t)(last - table) + 1 : 0; i < length; i++)
		if (!shadow_is_before(&table[i], pool, now))
			return &table[i];
	return NULL;
}

const struct shadow_access *shadow_of_thread(
	const struct shadow_accesses *accesses, const struct clock_pool *pool, uint32_t thread)
{
	const struct shadow_access *access = &accesses->one;

	if (accesses->table) {
		if (thread >= shadow_table_length(accesses))
			return NULL;
		access = &shadow_table(pool, accesses)[thread];
	}
	return access->clock && access->thread == thread ? access : NULL;
}

void shadow_forget(struct shadow_cell *cell, struct clock_pool *pool)
{
	for (unsigned kind = 0; kind < SHADOW_KINDS; kind++)
		if (cell->kinds >> kind & 1 && cell->last[kind].table)
			clock_pool_give(pool, cell->last[kind].table, cell->last[kind].table_words);
	cell->kinds = 0;
}

static bool shadow_grow_table(
	struct shadow_accesses *accesses, struct clock_pool *pool, uint32_t thread)
{
	uint32_t words;
	uint32_t table;

	if (accesses->table && thread < shadow_table_length(accesses))
		return true;
	table = clock_pool_take(pool, (thread + 1) * (uint32_t)SHADOW_ACCESS_WORDS, &words);
	if (!table)
		return false;
	if (accesses->table) {
		words_copy(
			&pool->words[table], &pool->words[accesses->table], accesses->table_words);
		clock_pool_give(pool, accesses->table, accesses->table_words);
	}
	accesses->table = table;
	accesses->table_words = words;
	return true;
}

bool shadow_add(struct shadow_cell *cell, enum shadow_kind kind, struct clock_pool *pool,
	const struct vector_clock *now, const struct shadow_access *access)
{
	struct shadow_accesses *accesses = &cell->last[kind];
	struct shadow_access one = accesses->one;
	bool is_single = !accesses->table;
	uint32_t most = one.thread > access->thread ? one.thread : access->thread;

	if (!(cell->kinds >> kind & 1)) {
		*accesses = (struct shadow_accesses){.one = *access};
		cell->kinds |= (uint8_t)(1u << kind);
		return true;
	}
	if (is_single && (one.thread == access->thread || shadow_is_before(&one, pool, now))) {
		accesses->one = *access;
		return true;
	}
	if (!shadow_grow_table(accesses, pool, is_single ? most : access->thread)) {
		if (is_single)
			accesses->one = *access;
		return false;
	}
	if (is_single)
		shadow_table(pool, accesses)[one.thread] = one;
	accesses->one.clock = 0;
	shadow_table(pool, accesses)[access->thread] = *access;
	return true;
}

static uint32_t shadow_take_cell(struct shadow *shadow)
{
	uint32_t cell = shadow->free_cells;

	if (cell) {
		shadow->free_cells = shadow->cells[cell].next;
	} else {
		if (shadow->cell_count == SHADOW_CELLS)
			return 0;
		cell = shadow->cell_count++;
	}
	shadow->cells[cell] = (struct shadow_cell){.next = 0};
	return cell;
}

/* Frees a granule's cells, because its memory was reallocated. */
static void shadow_give_cells(struct shadow *shadow, struct clock_pool *pool, uint32_t cell)
{
	while (cell) {
		struct shadow_cell *given = &shadow->cells[cell];
		uint32_t next = given->next;

		shadow_forget(given, pool);
		vector_clock_clear(pool, &given->released);
		given->mask = 0;
		given->next = shadow->free_cells;
		shadow->free_cells = cell;
		cell = next;
	}
}

static bool shadow_copy_accesses(struct shadow_accesses *accesses, struct clock_pool *pool)
{
	uint32_t table = accesses->table;

	if (!table)
		return true;
	accesses->table = clock_pool_take(pool, accesses->table_words, &accesses->table_words);
	if (!accesses->table)
		return false;
	words_copy(&pool->words[accesses->table], &pool->words[table], accesses->table_words);
	return true;
}

/* Moves the bytes outside `mask` into a new cell after this one, with a copy of the history. */
static bool shadow_split(
	struct shadow *shadow, struct clock_pool *pool, uint32_t index, uint8_t mask)
{
	struct shadow_cell *cell = &shadow->cells[index];
	uint32_t rest_index = shadow_take_cell(shadow);
	struct shadow_cell *rest = &shadow->cells[rest_index];
	struct vector_clock released = cell->released;
	bool is_whole = true;

	if (!rest_index)
		return false;
	rest->next = cell->next;
	rest->releaser = cell->releaser;
	rest->kinds = cell->kinds;
	for (unsigned kind = 0; kind < SHADOW_KINDS; kind++)
		rest->last[kind] = cell->last[kind];
	rest->mask = (uint8_t)(cell->mask & ~mask);
	for (unsigned kind = 0; kind < SHADOW_KINDS; kind++)
		is_whole &=
			!(cell->kinds >> kind & 1) || shadow_copy_accesses(&rest->last[kind], pool);
	is_whole &= vector_clock_copy(pool, &rest->released, &released);
	cell->mask &= mask;
	cell->next = rest_index;
	return is_whole;
}

/* Adjacent granules have adjacent slots, for locality; regions are hashed. */
#define SHADOW_REGION 64u /* granules */

static uint32_t shadow_slot(uint64_t number)
{
	return (uint32_t)((hash_mix(number / SHADOW_REGION) * SHADOW_REGION +
				  number % SHADOW_REGION) %
			  SHADOW_GRANULES);
}

static struct shadow_granule *shadow_probe(struct shadow *shadow, uint64_t number)
{
	uint32_t slot = shadow_slot(number);
	struct shadow_granule *granule = &shadow->granules[slot];

	while (granule->generation == shadow->generation && granule->number != number) {
		slot = (slot + 1) % SHADOW_GRANULES;
		granule = &shadow->granules[slot];
	}
	return granule;
}

struct shadow_granule *shadow_seek(struct shadow *shadow, uint64_t number)
{
	struct shadow_granule *granule = shadow_probe(shadow, number);

	return granule->generation == shadow->generation ? granule : NULL;
}

/* Returns the granule's slot, inserting it if needed; returns NULL if the table is full. */
static struct shadow_granule *shadow_granule(struct shadow *shadow, uint64_t number)
{
	struct shadow_granule *granule = shadow_probe(shadow, number);

	if (granule->generation == shadow->generation)
		return granule;
	if (shadow->granule_count == GRANULES_MOST)
		return NULL;
	shadow->granule_count++;
	*granule = (struct shadow_granule){.number = number, .generation = shadow->generation};
	return granule;
}

uint32_t shadow_find(struct shadow *shadow, struct clock_pool *pool, uint64_t address,
	object_name name, uint8_t mask)
{
	struct shadow_granule *granule = shadow_granule(shadow, address / SHADOW_GRANULE_BYTES);
	uint8_t missing = mask;
	uint32_t first = 0;

	if (!granule)
		return 0;
	if (granule->name != name) {
		shadow_give_cells(shadow, pool, granule->cells);
		granule->cells = 0;
		granule->name = name;
	}
	for (uint32_t cell = granule->cells; cell; cell = shadow->cells[cell].next) {
		uint8_t common = shadow->cells[cell].mask & mask;

		if (!common)
			continue;
		if (shadow->cells[cell].mask != common && !shadow_split(shadow, pool, cell, common))
			return 0;
		missing &= (uint8_t)~common;
		first = first ? first : cell;
	}
	if (missing) {
		uint32_t cell = shadow_take_cell(shadow);

		if (!cell)
			return 0;
		shadow->cells[cell].mask = missing;
		shadow->cells[cell].next = granule->cells;
		granule->cells = cell;
		first = cell;
	}
	return first;
}
