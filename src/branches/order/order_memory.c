/* Initial values of memory, lifetimes of blocks, hidden writes. */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/slots.h"
#include "branches/order/order.h"
#include "branches/order/order_internal.h"

/* Recovered from logged reads that precede all writes (TAME, partition of traces). */

/* The values that the first access of each byte of a word reveals. */
struct order_first {
	uint64_t key; /* key of slots.h: address divided by eight, plus one */
	uint64_t value;
	uint8_t known;	  /* bit set of the bytes that were read first */
	uint8_t accessed; /* bit set of the bytes that were read or written first */
};

static void order_firsts_add_access(struct order *order, const struct walk_event *event)
{
	struct order_first *slot = NULL;

	for (uint32_t i = 0; i < event->bytes; i++) {
		const uint64_t at = event->address + i;
		const uint8_t bit = (uint8_t)(1u << (at & 7));

		if (!slot || !(at & 7))
			slot = slots_add(&order->firsts, sizeof *slot, (at >> 3) + 1);
		if (event->kind == EVENT_READ && !(slot->accessed & bit)) {
			slot->known |= bit;
			slot->value |= (event->value >> 8 * i & 0xff) << 8 * (at & 7);
		}
		slot->accessed |= bit;
	}
}

void order_add_firsts(struct order *order)
{
	for (uint64_t i = 0; i < order->event_count; i++) {
		const struct event_id id = order->events[i];
		const struct walk_event *event = walk_event_of(order->walk, id);

		if (event_is_access(event))
			order_firsts_add_access(order, event);
	}
}

bool order_first_value(const struct order *order, uint64_t address, uint32_t bytes, uint64_t *value)
{
	uint64_t result = 0;

	for (uint32_t i = 0; i < bytes; i++) {
		const uint64_t at = address + i;
		const struct order_first *slot =
			slots_get(&order->firsts, sizeof *slot, (at >> 3) + 1);

		if (!slot || !(slot->known >> (at & 7) & 1))
			return false;
		result |= (slot->value >> 8 * (at & 7) & 0xff) << 8 * i;
	}
	*value = result;
	return true;
}

/*
 * An allocator writes its own data into the first bytes of a freed block, so reads there must
 * precede the freeing. The other bytes mostly keep their values: reads of these get no constraint,
 * and the run that proves an answer decides.
 */

/* Blocks begin at multiples of this, and no block is smaller. */
#define ALIGNMENT RELEASED_BYTES

struct release {
	uint64_t address, position; /* position in the run of the last event before it */
	struct event_id last;
};

static int order_lives_compare(const void *left, const void *right)
{
	const struct release *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

/* Lists the freed blocks, sorted by address, then by the order of the run. */
static struct release *order_memory_list_releases(const struct walk *walk)
{
	struct release *list = array_new(walk->release_count + 1u, sizeof *list);
	for (uint32_t i = 0; i < walk->release_count; i++) {
		const struct walk_release *from = &walk->releases[i];
		const uint32_t last = from->index - 1;

		list[i] = (struct release){.address = from->address,
			.position = walk->threads[from->thread].events[last].position,
			.last = {from->thread, last}};
	}
	qsort(list, walk->release_count, sizeof *list, order_lives_compare);
	return list;
}

/* Returns NULL if the block was not freed. */
static const struct release *order_memory_find_release(
	const struct release *list, uint32_t count, uint64_t address, uint64_t position)
{
	const struct release wanted = {.address = address, .position = position + 1};
	uint32_t first;

	SEARCH(first, 0, count, order_lives_compare(&list[first], &wanted) < 0);
	return first < count && list[first].address == address ? &list[first] : NULL;
}

static void order_memory_add_life(
	struct order *order, struct event_id read, const struct release *release)
{
	if (!release || release->last.thread == read.thread ||
		order_is_before(order, read, release->last))
		return;
	ARRAY_APPEND(order->lives, order->life_count, (struct order_life){read, release->last});
}

void order_add_lives(struct order *order)
{
	const struct walk *walk = order->walk;
	FREE_SCOPED struct release *list = NULL;

	if (!walk->release_count)
		return;
	list = order_memory_list_releases(walk);
	for (struct event_id id = {0}; walk_has_event(walk, &id); id.index++) {
		const struct walk_event *event = walk_event_of(walk, id);

		if (event->kind == EVENT_READ)
			order_memory_add_life(order, id,
				order_memory_find_release(list, walk->release_count,
					event->address & ~(uint64_t)(ALIGNMENT - 1),
					event->position));
	}
}

/*
 * Hidden writes: writes to shared memory by code that the walk does not interpret, such as libc or
 * assembly. A read reveals a hidden write when no write of the run explains its value. The contents
 * of such memory are known only at the reads.
 */

/* The contents are a set of pairs of byte address and value, and of marks for known initial values. */
#define IS_INITIAL_KNOWN 256u

static bool order_memory_has(const struct slots *contents, uint64_t address, uint32_t value)
{
	return slots_get(contents, sizeof(uint64_t), address << 9 | value) != NULL;
}

static void order_memory_hidden_put(struct slots *contents, uint64_t address, uint32_t value)
{
	(void)slots_add(contents, sizeof(uint64_t), address << 9 | value);
}

static void order_memory_put_written(struct slots *contents, const struct walk_event *event)
{
	for (uint32_t i = 0; i < event->bytes; i++)
		order_memory_hidden_put(
			contents, event->address + i, (uint8_t)(event->value >> 8 * i));
}

static void order_memory_put_initial(
	struct slots *contents, const struct order *order, const struct walk_event *read)
{
	uint64_t initial;
	const bool is_known = walk_initial(order->walk, read->address, read->bytes, &initial) ||
			      order_first_value(order, read->address, read->bytes, &initial);

	for (uint32_t i = 0; i < read->bytes; i++) {
		if (order_memory_has(contents, read->address + i, IS_INITIAL_KNOWN))
			continue;
		order_memory_hidden_put(contents, read->address + i, IS_INITIAL_KNOWN);
		if (is_known)
			order_memory_hidden_put(
				contents, read->address + i, (uint8_t)(initial >> 8 * i));
	}
}

static bool order_memory_is_explained(const struct slots *contents, const struct walk_event *read)
{
	for (uint32_t i = 0; i < read->bytes; i++)
		if (!order_memory_has(contents, read->address + i, (uint8_t)(read->value >> 8 * i)))
			return false;
	return true;
}

static void order_memory_hidden_add(struct order *order, uint64_t word)
{
	if (order->hidden_count && order->hidden[order->hidden_count - 1] == word)
		return;
	ARRAY_APPEND(order->hidden, order->hidden_count, word);
}

static void order_memory_find_unexplained(struct order *order)
{
	struct slots contents = {0};

	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < order->event_count; i++) {
			const struct event_id id = order->events[i];
			const struct walk_event *event = walk_event_of(order->walk, id);

			if (!round && event->kind == EVENT_WRITE)
				order_memory_put_written(&contents, event);
			if (!round || event->kind != EVENT_READ)
				continue;
			order_memory_put_initial(&contents, order, event);
			if (order_memory_is_explained(&contents, event))
				continue;
			order_memory_hidden_add(order, event->address >> 3);
			order_memory_hidden_add(order, (event->address + event->bytes - 1) >> 3);
		}
	slots_release(&contents);
}

/* Words with more writes are skipped: each read is compared with each write. */
#define WRITES_MOST 64u

struct written_word {
	uint64_t key;	 /* key of slots.h: address divided by eight, plus one */
	uint32_t newest; /* number of the newest write, plus one */
	uint32_t count;
};

struct word_write {
	struct event_id id;
	uint32_t older; /* number of the next older write, plus one; 0: none */
};

/* A thread's last access to a word. */
struct last_access {
	uint64_t key; /* key of slots.h: word and thread */
	uint32_t index;
};

struct histories {
	struct slots words; /* struct written_word */
	struct word_write *writes;
	uint32_t write_count;
	struct slots accesses; /* struct last_access */
};

static bool order_memory_is_in_one_word(const struct walk_event *event)
{
	return event_is_access(event) &&
	       event->address >> 3 == (event->address + event->bytes - 1) >> 3;
}

static void order_memory_hidden_note_write(
	struct histories *histories, struct event_id id, uint64_t word)
{
	struct written_word *slot = slots_add(&histories->words, sizeof *slot, word + 1);

	if (++slot->count > WRITES_MOST)
		return;
	ARRAY_APPEND(
		histories->writes, histories->write_count, (struct word_write){id, slot->newest});
	slot->newest = histories->write_count;
}

/* Returns the thread's previous access to the word; returns NULL if there is none. */
static const struct walk_event *order_memory_exchange_last(
	struct histories *histories, const struct order *order, struct event_id id, uint32_t *index)
{
	const uint64_t word = walk_event_of(order->walk, id)->address >> 3;
	const uint64_t key = (word + 1) * THREAD_CAPACITY + id.thread;
	const bool has_one = slots_get(&histories->accesses, sizeof(struct last_access), key);
	struct last_access *slot = slots_add(&histories->accesses, sizeof *slot, key);

	*index = slot->index;
	slot->index = id.index;
	return has_one ? walk_event_of(order->walk, (struct event_id){id.thread, *index}) : NULL;
}

/* Returns whether another thread may have written the word between `first` (NULL: start) and the
 * read. */
static bool order_memory_may_be_written(const struct histories *histories,
	const struct order *order, const struct event_id *first, struct event_id read)
{
	const struct written_word *slot = slots_get(&histories->words, sizeof *slot,
		(walk_event_of(order->walk, read)->address >> 3) + 1);

	if (!slot || slot->count > WRITES_MOST)
		return slot != NULL;
	for (uint32_t at = slot->newest; at; at = histories->writes[at - 1].older) {
		const struct event_id id = histories->writes[at - 1].id;

		if (id.thread != read.thread && !(first && order_is_before(order, id, *first)) &&
			!order_is_before(order, read, id))
			return true;
	}
	return false;
}

static bool order_memory_is_other(
	const struct order *order, const struct walk_event *last, const struct walk_event *read)
{
	uint64_t value;

	if (last)
		return last->address == read->address && last->bytes == read->bytes &&
		       last->value != read->value;
	return walk_initial(order->walk, read->address, read->bytes, &value) &&
	       value != read->value;
}

/* Changes by code without bitcode in the reading thread itself: pthread_create() stores an id. */
static void order_memory_find_changed(struct order *order)
{
	struct histories histories = {0};

	for (uint64_t i = 0; i < order->event_count; i++) {
		const struct walk_event *event = walk_event_of(order->walk, order->events[i]);

		if (event->kind != EVENT_WRITE)
			continue;
		order_memory_hidden_note_write(&histories, order->events[i], event->address >> 3);
		if (!order_memory_is_in_one_word(event))
			order_memory_hidden_note_write(
				&histories, order->events[i], (event->address >> 3) + 1);
	}
	for (uint64_t i = 0; i < order->event_count; i++) {
		const struct event_id id = order->events[i];
		const struct walk_event *event = walk_event_of(order->walk, id), *last;
		struct event_id before = {.thread = id.thread};

		if (!order_memory_is_in_one_word(event))
			continue;
		last = order_memory_exchange_last(&histories, order, id, &before.index);
		if (event->kind == EVENT_READ && order_memory_is_other(order, last, event) &&
			!order_memory_may_be_written(&histories, order, last ? &before : NULL, id))
			order_memory_hidden_add(order, event->address >> 3);
	}
	slots_release(&histories.words);
	free(histories.writes);
	slots_release(&histories.accesses);
}

void hidden_find(struct order *order)
{
	order_memory_find_unexplained(order);
	order_memory_find_changed(order);
	if (order->hidden_count)
		qsort(order->hidden, order->hidden_count, sizeof *order->hidden, compare_numbers);
}

bool hidden_has(const struct order *order, uint64_t address, uint32_t bytes)
{
	for (uint64_t word = address >> 3;
		order->hidden_count && word <= (address + bytes - 1) >> 3; word++)
		if (bsearch(&word, order->hidden, order->hidden_count, sizeof word,
			    compare_numbers))
			return true;
	return false;
}
