/*
 * Blocks of the heap and their allocating sites. Threads allocate often and look addresses up
 * rarely. Blocks therefore lie in a hash table by their start, in parts with a lock each. A
 * look-up probes the possible starts downwards from the address. The result is cached per 16
 * bytes, which two blocks never share, until the block is freed. Blocks that find no room have no
 * record.
 */
#include <dlfcn.h>
#include <sys/syscall.h>

#include "base/hash.h"
#include "noise/noise.h"
#include "platform/platform.h"

#define UNIT_BYTES 16u
#define PARTS 64u
#define BUCKETS 1024u /* per part */
#define NODES 4096u   /* per part */
/* Larger blocks are in a list of their own. */
#define SMALL_BYTES 4096u
#define LARGE_MOST 1024u
/*
 * Bounds the wait for a lock whose holder was interrupted by a signal handler that wants the
 * lock, or was lost in a fork.
 */
#define TRIES_MOST 100000u
/* One bit per 64 MB of addresses: set if the region has had a block. */
#define REGION_SHIFT 26
#define REGIONS (UINT32_C(1) << 21)
#define SERIAL_MASK ((UINT32_C(1) << 25) - 1)

struct block {
	uintptr_t start;
	size_t bytes;
	struct noise_place place;
	uint32_t next; /* next in the bucket or in the free list: index + 1 */
};

static struct {
	struct {
		uint32_t lock;
		uint32_t used; /* nodes that were ever in use */
		uint32_t unused;
		uint32_t buckets[BUCKETS]; /* index + 1 */
		struct block blocks[NODES];
	} parts[PARTS];
	uint32_t large_lock;
	uint32_t large_count;
	struct block large[LARGE_MOST];
	uint32_t serial;
	uint64_t regions[REGIONS / 64];
} heap;

static bool lock(uint32_t *word)
{
	for (uint32_t i = 0; i < TRIES_MOST; i++) {
		if (!__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE)) /* pairs with unlock() */
			return true;
		if (i % 64 == 63)
			(void)platform_call(SYS_sched_yield);
		__builtin_ia32_pause();
	}
	return false;
}

static void unlock(uint32_t *word)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE); /* pairs with lock() */
}

/* ---- cache per 16 bytes: 27 bits of the address, 12 of the class, 25 of the block ---- */

#define KNOWN (UINT32_C(1) << 16)
static uint64_t known[KNOWN];

static uint64_t known_tag(uintptr_t address)
{
	return (uint64_t)(address / UNIT_BYTES / KNOWN) << 37;
}

bool noise_place_known(uintptr_t address, struct noise_place *place)
{
	const uint64_t word =
		__atomic_load_n(&known[address / UNIT_BYTES % KNOWN], __ATOMIC_RELAXED);

	if (!word || (word ^ known_tag(address)) >> 37)
		return false;
	place->class = (uint16_t)(word >> 25 & (NOISE_CLASSES - 1));
	place->block = (uint32_t)word & SERIAL_MASK;
	return true;
}

static void known_set(uintptr_t address, struct noise_place place)
{
	__atomic_store_n(&known[address / UNIT_BYTES % KNOWN],
		known_tag(address) | (uint64_t)place.class << 25 | place.block, __ATOMIC_RELAXED);
}

static void known_forget(uintptr_t start, size_t bytes)
{
	size_t units = (bytes + UNIT_BYTES - 1) / UNIT_BYTES;

	if (units > KNOWN)
		units = KNOWN; /* invalidates the whole cache */
	for (size_t i = 0; i < units; i++) {
		uint64_t *word = &known[(start / UNIT_BYTES + i) % KNOWN];

		if (units == KNOWN || (__atomic_load_n(word, __ATOMIC_RELAXED) ^
					      known_tag(start + i * UNIT_BYTES)) >>
						      37 ==
					      0)
			__atomic_store_n(word, 0, __ATOMIC_RELAXED);
	}
}

/* ---- classes ---- */

static uint16_t class_of(uint64_t site)
{
	struct contract_noise *log = noise_log();
	const uint32_t first = (uint32_t)(hash_mix(site) % (NOISE_CLASSES - NOISE_CLASS_BLOCKS));

	for (uint32_t i = 0; i < 64; i++) {
		const uint32_t at =
			NOISE_CLASS_BLOCKS + (first + i) % (NOISE_CLASSES - NOISE_CLASS_BLOCKS);
		uint64_t there = 0;

		if (__atomic_compare_exchange_n(&log->classes[at], &there, site, false,
			    __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
			there == site)
			return (uint16_t)at;
	}
	return NOISE_CLASS_REST;
}

/* ---- the table ---- */

static uint64_t *region_word(uintptr_t address, uint64_t *bit)
{
	const uint32_t region = (uint32_t)(address >> REGION_SHIFT) % REGIONS;

	*bit = UINT64_C(1) << region % 64;
	return &heap.regions[region / 64];
}

static uint64_t blocks_hash_of(uintptr_t start)
{
	return hash_mix(start / UNIT_BYTES);
}

static void blocks_add_small(const struct block *block)
{
	const uint64_t hash = blocks_hash_of(block->start);
	__typeof__(&heap.parts[0]) part = &heap.parts[hash % PARTS];
	uint32_t *bucket = &part->buckets[hash / PARTS % BUCKETS];
	uint32_t index;

	if (!lock(&part->lock))
		return;
	index = part->unused;
	if (index)
		part->unused = part->blocks[index - 1].next;
	else if (part->used < NODES)
		index = ++part->used;
	if (index) {
		part->blocks[index - 1] = *block;
		part->blocks[index - 1].next = *bucket;
		*bucket = index;
	}
	unlock(&part->lock);
}

static void add_large(const struct block *block)
{
	if (!lock(&heap.large_lock))
		return;
	if (heap.large_count < LARGE_MOST)
		heap.large[heap.large_count++] = *block;
	unlock(&heap.large_lock);
}

void noise_block_made(const void *start, size_t bytes, uint64_t site)
{
	const uint32_t serial = __atomic_add_fetch(&heap.serial, 1, __ATOMIC_RELAXED);
	const struct block block = {.start = (uintptr_t)start,
		.bytes = bytes ? bytes : 1,
		.place = {.class = class_of(site), .block = serial & SERIAL_MASK}};
	uint64_t bit;
	uint64_t *word = region_word(block.start, &bit);

	if (bytes >= SMALL_BYTES) {
		add_large(&block);
		return;
	}
	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
		(void)__atomic_or_fetch(word, bit, __ATOMIC_RELAXED);
	blocks_add_small(&block);
}

static bool take_large(uintptr_t start, struct block *out)
{
	bool is_found = false;

	if (!__atomic_load_n(&heap.large_count, __ATOMIC_RELAXED) || start % UNIT_BYTES ||
		!lock(&heap.large_lock))
		return false;
	for (uint32_t i = 0; i < heap.large_count && !is_found; i++) {
		if (heap.large[i].start != start)
			continue;
		is_found = true;
		*out = heap.large[i];
		heap.large[i] = heap.large[--heap.large_count];
	}
	unlock(&heap.large_lock);
	return is_found;
}

/* Finds the small block that starts at the address; `remove` also removes it. */
static bool find_small(uintptr_t start, bool remove, struct block *out)
{
	const uint64_t hash = blocks_hash_of(start);
	__typeof__(&heap.parts[0]) part = &heap.parts[hash % PARTS];
	uint32_t *link = &part->buckets[hash / PARTS % BUCKETS];
	uint32_t index;

	if (!__atomic_load_n(link, __ATOMIC_RELAXED) || !lock(&part->lock))
		return false;
	while (*link && part->blocks[*link - 1].start != start)
		link = &part->blocks[*link - 1].next;
	index = *link;
	if (index)
		*out = part->blocks[index - 1];
	if (index && remove) {
		*link = part->blocks[index - 1].next;
		part->blocks[index - 1].next = part->unused;
		part->unused = index;
	}
	unlock(&part->lock);
	return index != 0;
}

void noise_block_freed(const void *start)
{
	struct block block;

	if (find_small((uintptr_t)start, true, &block) || take_large((uintptr_t)start, &block))
		known_forget(block.start, block.bytes);
}

/* ---- look-up of an address ---- */

static bool find_below(uintptr_t address, struct block *out)
{
	const uintptr_t unit = address & ~(uintptr_t)(UNIT_BYTES - 1);
	uint64_t bit;
	const uint64_t *word = region_word(address, &bit);

	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
		return false;
	for (uintptr_t start = unit; unit - start < SMALL_BYTES && start >= UNIT_BYTES;
		start -= UNIT_BYTES)
		if (find_small(start, false, out))
			return address - out->start < out->bytes;
	return false;
}

static bool find_large(uintptr_t address, struct block *out)
{
	bool is_found = false;

	if (!__atomic_load_n(&heap.large_count, __ATOMIC_RELAXED) || !lock(&heap.large_lock))
		return false;
	for (uint32_t i = 0; i < heap.large_count && !is_found; i++) {
		is_found = address - heap.large[i].start < heap.large[i].bytes;
		*out = heap.large[i];
	}
	unlock(&heap.large_lock);
	return is_found;
}

struct noise_place noise_place_find(uintptr_t address)
{
	struct noise_place place = {.class = NOISE_CLASS_REST};
	struct dl_find_object object;
	struct block block;

	if (_dl_find_object((void *)address, &object) == 0)
		place.class = NOISE_CLASS_STATIC;
	else if (find_large(address, &block) || find_below(address, &block))
		place = block.place;
	known_set(address, place);
	return place;
}
