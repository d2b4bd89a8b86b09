/*
 * Learns which sites touch memory that threads share; later runs have only those sites on. For
 * each variable, an entry holds the first thread, and the last sites of reads and writes by that
 * thread and by others. Once two threads have accessed the variable and one has written, these
 * sites are marked. Variables share entries by hash, and threads race for entries. Each word of
 * an entry therefore holds a tag of its variable, and several runs are made.
 */
#include "base/hash.h"
#include "noise/noise.h"
#include "runtime/sites.h"

#define ENTRIES (UINT32_C(1) << 16)
#define WORD_BYTES 8u
/* Only the beginning of a longer range is looked at. */
#define WORDS_MOST 64u

/* The upper 40 bits of each word are a hash of the variable; 0: empty. */
#define OWNER_MASK (((UINT64_C(1) << 40) - 1) << 24)
#define THREAD_SHIFT 2
#define IS_SHARED 1u
#define IS_WRITTEN 2u

struct learnt {
	uint64_t state; /* low bits: number of the first thread, IS_SHARED, IS_WRITTEN */
	uint64_t places
		[4]; /* low bits: index of the site + 1; first thread, others; reads, writes */
};

static struct learnt entries[ENTRIES];

static void mark(uint64_t place, uint64_t owner)
{
	const uint64_t index = place & ~OWNER_MASK;
	uint8_t *state = &sites_memory()->sites[index - 1];

	if ((place & OWNER_MASK) != owner || !index || index > MEMORY_SITES_MAX)
		return;
	if (!(__atomic_load_n(state, __ATOMIC_RELAXED) & SITE_SHARED))
		(void)__atomic_or_fetch(state, SITE_SHARED, __ATOMIC_RELAXED);
}

static void learn_word(const struct noise_access *access, uint64_t hash)
{
	struct learnt *entry = &entries[hash % ENTRIES];
	const uint64_t owner = hash & OWNER_MASK;
	const uint64_t first = owner | (uint64_t)noise_thread.number << THREAD_SHIFT;
	const uint64_t place = owner | (uint64_t)(access->site_state - sites_memory()->sites + 1);
	const uint64_t before = __atomic_load_n(&entry->state, __ATOMIC_RELAXED);
	uint64_t state = (before & OWNER_MASK) == owner ? before : first;

	state |= (state ^ first) >> THREAD_SHIFT ? IS_SHARED : 0;
	state |= access->is_write ? IS_WRITTEN : 0;
	if (state != before)
		__atomic_store_n(&entry->state, state, __ATOMIC_RELAXED);
	__atomic_store_n(
		&entry->places[2 * ((state ^ first) >> THREAD_SHIFT != 0) + access->is_write],
		place, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < 4 && (~state & (IS_SHARED | IS_WRITTEN)) == 0; i++)
		mark(__atomic_load_n(&entry->places[i], __ATOMIC_RELAXED), owner);
}

void noise_learn(const struct noise_access *access, uint32_t block)
{
	const uintptr_t first = access->address / WORD_BYTES;
	uintptr_t last = (access->address + access->bytes - 1) / WORD_BYTES;

	if (last - first >= WORDS_MOST)
		last = first + WORDS_MOST - 1;
	for (uintptr_t word = first; word <= last; word++)
		learn_word(access, hash_pair(word, block));
}
