/*
 * Determines which memory threads share (struct shared_word).
 *
 * A thread is *tainted* from the segment on in which it reads shared memory or learns the outcome
 * of an operation. The values that a tainted thread writes may differ between runs. Words and
 * taints depend on each other: walk_settle_sharing() iterates to a fixed point.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bitset.h"
#include "branches/values/segments.h"
#include "base/slots.h"
#include "branches/interpret/walk_internal.h"

#define NOBODY_TAINTED UINT16_MAX
/* Per word. A word with more accesses counts as unordered. */
#define ACCESSES_MOST 64
/* A function that received an address may have written this many words after it. */
#define OPAQUE_WORDS 512

static struct shared_word *walk_sharing_add_word(struct shared_map *map, uint64_t word)
{
	struct shared_word *found = slots_add(&map->words, sizeof *found, word + 1);

	if (!found->bytes)
		found->bytes = 8;
	return found;
}

static const struct shared_span nothing = {1, 0};

static bool walk_sharing_is_nothing(struct shared_span span)
{
	return span.first > span.last;
}

static void walk_sharing_extend(struct shared_span *span, uint16_t segment)
{
	if (walk_sharing_is_nothing(*span)) {
		*span = (struct shared_span){segment, segment};
		return;
	}
	span->first = segment < span->first ? segment : span->first;
	span->last = segment > span->last ? segment : span->last;
}

static struct shared_access *walk_sharing_next_access(
	const struct shared_map *map, const struct shared_access *access)
{
	return access->next ? &map->accesses[access->next - 1] : NULL;
}

static void walk_sharing_taint(struct shared_map *map, uint16_t thread, uint16_t segment)
{
	if (thread >= map->thread_count || map->tainted[thread] <= segment)
		return;
	map->tainted[thread] = segment;
	map->is_changed = true;
}

/* Handles a word that turns out to be shared: its readers may have read another value. */
static void walk_sharing_taint_readers(struct shared_map *map, const struct shared_word *word)
{
	for (const struct shared_access *i = &word->access; word->access_count && i;
		i = walk_sharing_next_access(map, i))
		if (!walk_sharing_is_nothing(i->reads))
			walk_sharing_taint(map, i->thread, i->reads.first);
}

/* Returns NULL if the limit is reached. */
static struct shared_access *walk_sharing_access_of(
	struct shared_map *map, struct shared_word *word, uint16_t thread, uint16_t halves)
{
	struct shared_access fresh = {
		.reads = nothing, .writes = nothing, .thread = thread, .halves = halves};

	if (!word->access_count) {
		word->access_count = 1;
		word->access = fresh;
		return &word->access;
	}
	for (struct shared_access *i = &word->access; i; i = walk_sharing_next_access(map, i))
		if (i->thread == thread && i->halves == halves)
			return i;
	if (word->access_count == ACCESSES_MOST)
		return NULL;
	fresh.next = word->access.next;
	ARRAY_APPEND(map->accesses, map->access_count, fresh);
	word->access.next = map->access_count;
	word->access_count++;
	return &map->accesses[map->access_count - 1];
}

static bool walk_sharing_is_ordered(const struct segments *segments, uint16_t thread,
	struct shared_span span, uint16_t other_thread, struct shared_span other)
{
	return walk_sharing_is_nothing(span) || walk_sharing_is_nothing(other) ||
	       segments_are_ordered(segments, thread, span.last, other_thread, other.first) ||
	       segments_are_ordered(segments, other_thread, other.last, thread, span.first);
}

static bool walk_sharing_has_conflict(const struct shared_map *map, const struct segments *segments,
	const struct shared_word *word, const struct shared_access *access)
{
	for (const struct shared_access *i = &word->access; i;
		i = walk_sharing_next_access(map, i)) {
		if (i->thread == access->thread || !(i->halves & access->halves))
			continue;
		if (!walk_sharing_is_ordered(
			    segments, i->thread, i->writes, access->thread, access->reads) ||
			!walk_sharing_is_ordered(
				segments, i->thread, i->writes, access->thread, access->writes) ||
			!walk_sharing_is_ordered(
				segments, i->thread, i->reads, access->thread, access->writes))
			return true;
	}
	return false;
}

static void walk_sharing_share(
	struct walker *walker, uint64_t number, uint32_t bytes, uint16_t halves, bool is_write)
{
	struct shared_map *map = &walker->walk->shared;
	struct shared_word *word = walk_sharing_add_word(map, number);
	struct shared_access *access;

	map->is_changed = true;
	if (bytes < word->bytes && !(bytes & (bytes - 1)))
		word->bytes = (uint8_t)bytes;
	word->is_many |= word->access_count && word->access.thread != walker->thread;
	word->is_written |= is_write;
	if (!map->is_ordered) {
		word->access.thread = word->access_count ? word->access.thread : walker->thread;
		word->access_count = 1;
		return;
	}
	access = word->is_unordered ? NULL
				    : walk_sharing_access_of(map, word, walker->thread, halves);
	if (!access) {
		/* The access is not recorded, so walk_sharing_taint_readers() would miss this reader. */
		word->is_unordered = true;
		if (!is_write)
			walk_sharing_taint(map, walker->thread, walker->segment);
		return;
	}
	walk_sharing_extend(is_write ? &access->writes : &access->reads, walker->segment);
	if (walk_sharing_has_conflict(map, walker->walk->segments, word, access)) {
		word->is_unordered = true;
		walk_sharing_taint_readers(map, word);
	}
}

static uint16_t walk_sharing_halves_of(uint64_t word, uint64_t address, uint32_t bytes)
{
	const uint64_t begin = word << 3, end = address + bytes;

	return (uint16_t)((address < begin + 4 && end > begin) |
			  (address < begin + 8 && end > begin + 4) << 1);
}

void walk_note_sharing(struct walker *walker, uint64_t address, uint32_t bytes, bool is_write)
{
	for (uint64_t word = address >> 3; word <= (address + bytes - 1) >> 3; word++) {
		const uint16_t halves = walk_sharing_halves_of(word, address, bytes);
		const uint64_t slot = (2 * word + (halves == 2)) & (SEEN_SLOTS - 1);
		uint64_t *seen = &walker->seen[slot];
		/* Addresses have 47 bits, segment numbers 15. */
		const uint64_t mark = ((uint64_t)walker->segment << 49) | (word + 1) << 3 |
				      (uint64_t)(halves == 3) << 2;

		/* Once as read and once as written per segment suffices for each word. */
		if ((*seen & ~UINT64_C(3)) != mark)
			*seen = mark;
		if (*seen >> is_write & 1)
			continue;
		*seen |= UINT64_C(1) << is_write;
		walk_room_note(walker->room->looked, slot);
		walk_sharing_share(walker, word, bytes, halves, is_write);
	}
}

void walk_note_opaque(struct walker *walker, uint64_t address)
{
	struct shared_word *word;

	if (address < NULL_PAGE || address >> 47)
		return;
	word = walk_sharing_add_word(&walker->walk->shared, address >> 3);
	word->is_opaque = true;
	walker->walk->shared.is_changed = true;
}

static bool walk_sharing_may_be_another(
	const struct shared_map *map, const struct shared_word *word)
{
	for (const struct shared_access *i = &word->access; i; i = walk_sharing_next_access(map, i))
		if (!walk_sharing_is_nothing(i->writes) && i->thread < map->thread_count &&
			map->tainted[i->thread] <= i->writes.last)
			return true;
	return false;
}

/* Marks words after an address that a function received, because they may hold unknown values. */
static void walk_sharing_spread_opaque(struct shared_map *map)
{
	struct shared_word *words = map->words.items;

	for (uint64_t i = 0; i < map->words.capacity; i++) {
		struct shared_word *word = &words[i];

		if (!word->address || !word->is_opaque)
			continue;
		for (uint64_t j = 1; j < OPAQUE_WORDS; j++) {
			struct shared_word *next =
				slots_get(&map->words, sizeof *next, word->address + j);

			/* The next opaque address has its own iteration. */
			if (!next || next->is_opaque)
				break;
			next->is_unordered |= next->is_many && next->is_written;
		}
		word->is_unordered |= word->is_many && word->is_written;
	}
}

/* Marks the threads of a tainted creator, which may pass other values to them. */
static void walk_sharing_taint_created(struct shared_map *map, const struct segments *segments)
{
	for (uint32_t i = 0; segments && i < map->thread_count; i++)
		if (segments->creator[i] < map->thread_count &&
			map->tainted[segments->creator[i]] <= segments->created[i])
			walk_sharing_taint(map, (uint16_t)i, 0);
}

void walk_settle_sharing(struct walk *walk)
{
	struct shared_map *map = &walk->shared;
	struct shared_word *words = map->words.items;

	if (!map->is_changed)
		return;
	walk_sharing_spread_opaque(map);
	do {
		map->is_changed = false;
		for (uint64_t i = 0; i < map->words.capacity; i++) {
			struct shared_word *word = &words[i];

			if (!word->address || word->is_shared || !word->is_many ||
				!word->is_written)
				continue;
			word->is_shared = !map->is_ordered || word->is_unordered ||
					  walk_sharing_may_be_another(map, word);
			if (word->is_shared && map->is_ordered)
				walk_sharing_taint_readers(map, word);
		}
		walk_sharing_taint_created(map, walk->segments);
	} while (map->is_changed);
}

void walk_open_sharing(struct walk *walk)
{
	struct shared_map *map = &walk->shared;

	segments_free(walk->segments);
	walk->segments = segments_new(walk->record);
	map->is_ordered = walk->segments;
	map->thread_count = walk->record->thread_count;
	map->tainted = array_resize(map->tainted, map->thread_count + 1u, sizeof *map->tainted);
	for (uint32_t i = 0; i < map->thread_count; i++)
		map->tainted[i] = walk->segments ? walk->segments->tried[i] : NOBODY_TAINTED;
}

void walk_release_sharing(struct walk *walk)
{
	segments_free(walk->segments);
	walk->segments = NULL;
	slots_release(&walk->shared.words);
	free(walk->shared.accesses);
	free(walk->shared.tainted);
	walk->shared = (struct shared_map){0};
}

struct shared_word *walk_shared_word(const struct walk *walk, uint64_t word)
{
	return slots_get(&walk->shared.words, sizeof(struct shared_word), word + 1);
}

static bool walk_sharing_is_word_shared(const struct walk *walk, uint64_t word)
{
	const struct shared_word *found = walk_shared_word(walk, word);

	return found && found->is_shared;
}

bool walk_is_shared(const struct walk *walk, uint64_t address, uint32_t bytes)
{
	if (bytes <= 8 && walk->shared_lines && !walk_may_be_shared(walk, address, bytes))
		return false;
	for (uint64_t word = address >> 3; word <= (address + bytes - 1) >> 3; word++)
		if (walk->shared_lines
				? slots_get(&walk->shared_words, sizeof(uint64_t), word + 1) != NULL
				: walk_sharing_is_word_shared(walk, word))
			return true;
	return false;
}

bool walk_share(struct walk *walk, uint64_t word)
{
	struct shared_map *map = &walk->shared;
	struct shared_word *found;

	if (walk_sharing_is_word_shared(walk, word))
		return false;
	found = walk_sharing_add_word(map, word);
	found->is_many = found->is_written = found->is_shared = true;
	walk_sharing_taint_readers(map, found);
	return true;
}

void walk_build_shared_lines(struct walk *walk)
{
	const struct slots *words = &walk->shared.words;
	const struct shared_word *word = words->items;

	walk_settle_sharing(walk);
	if (!walk->shared_lines)
		walk->shared_lines = array_new(SHARED_LINES / 8, 1);
	memset(walk->shared_lines, 0, SHARED_LINES / 8);
	slots_release(&walk->shared_words);
	for (uint64_t i = 0; i < words->capacity; i++, word++) {
		if (!word->is_shared)
			continue;
		bitset_add(
			walk->shared_lines, (uint32_t)((word->address - 1) & (SHARED_LINES - 1)));
		(void)slots_add(&walk->shared_words, sizeof(uint64_t), word->address);
	}
}
