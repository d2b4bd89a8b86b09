#include "branches/solve/chances.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "branches/interpret/slots.h"

#define NONE UINT32_MAX

static const struct walk_event *chances_event_at(const struct chances *chances, uint32_t rank)
{
	const struct event_id id = chances->rehearsal->order->events[rank];

	return &chances->rehearsal->walk->threads[id.thread].events[id.index];
}

static struct event_id id_at(const struct chances *chances, uint32_t rank)
{
	return chances->rehearsal->order->events[rank];
}

static bool chances_is_access(const struct walk_event *event)
{
	return event->kind == EVENT_READ || event->kind == EVENT_WRITE;
}

/* ---- rivals: later conflicting accesses ---- */

/* Ranks of the nearest later access, and of the nearest one by another thread than that. */
struct nearest {
	uint32_t ranks[2];
};

struct met_word {
	uint64_t key; /* key of slots.h */
	struct nearest accesses, writes;
};

struct met_words {
	struct met_word *slots;
	uint64_t capacity, count;
};

static struct met_word *chances_meet(struct met_words *words, uint64_t address)
{
	const uint64_t key = (address >> 3) + 1;
	struct met_word *slot;

	words->slots = slots_reserve(
		words->slots, &words->capacity, sizeof *words->slots, words->count, 1024);
	slot = slots_find(words->slots, words->capacity, sizeof *slot, key);
	if (!slot->key) {
		*slot = (struct met_word){
			.key = key, .accesses = {{NONE, NONE}}, .writes = {{NONE, NONE}}};
		words->count++;
	}
	return slot;
}

static void come(const struct chances *chances, struct nearest *nearest, uint32_t rank)
{
	if (nearest->ranks[0] != NONE &&
		id_at(chances, nearest->ranks[0]).thread != id_at(chances, rank).thread)
		nearest->ranks[1] = nearest->ranks[0];
	nearest->ranks[0] = rank;
}

/* The nearest access of another thread that need not come later anyway. */
static uint32_t other_than(
	const struct chances *chances, const struct nearest *nearest, uint32_t rank)
{
	const struct event_id id = id_at(chances, rank);
	const bool is_own =
		nearest->ranks[0] != NONE && id_at(chances, nearest->ranks[0]).thread == id.thread;
	const uint32_t found = nearest->ranks[is_own];

	if (found == NONE || order_is_before(chances->rehearsal->order, id, id_at(chances, found)))
		return NONE;
	return found;
}

static uint32_t *ranks_of(const struct chances *chances)
{
	const uint64_t count = chances->rehearsal->order->event_count;
	uint32_t *list = malloc((count + 1) * sizeof *list);

	BUG_ON(!list);
	memset(list, 0xff, (count + 1) * sizeof *list);
	return list;
}

static void find_rivals(struct chances *chances)
{
	struct met_words words = {0};

	for (uint64_t i = chances->rehearsal->order->event_count; i-- > 0;) {
		const uint32_t rank = (uint32_t)i;
		const struct walk_event *event = chances_event_at(chances, rank);
		struct met_word *word;

		if (!chances_is_access(event))
			continue;
		word = chances_meet(&words, event->address);
		chances->rival_writes[rank] = other_than(chances, &word->writes, rank);
		chances->rivals[rank] = event->kind == EVENT_WRITE
						? other_than(chances, &word->accesses, rank)
						: chances->rival_writes[rank];
		come(chances, &word->accesses, rank);
		if (event->kind == EVENT_WRITE)
			come(chances, &word->writes, rank);
	}
	free(words.slots);
}

static void find_sources(struct chances *chances)
{
	struct met_words words = {0};

	for (uint64_t i = 0; i < chances->rehearsal->order->event_count; i++) {
		const uint32_t rank = (uint32_t)i;
		const struct walk_event *event = chances_event_at(chances, rank);

		if (event->kind == EVENT_WRITE)
			chances_meet(&words, event->address)->writes.ranks[0] = rank;
		else if (event->kind == EVENT_READ)
			chances->sources[rank] =
				chances_meet(&words, event->address)->writes.ranks[0];
	}
	free(words.slots);
}

/* ---- kinds ---- */

struct kind_slot {
	uint64_t key; /* key of slots.h */
	uint32_t kind;
};

struct kind_table {
	struct kind_slot *slots;
	uint64_t capacity, count;
};

/* The kind of the pair of instructions; kinds are numbered in the order of the run. */
static uint32_t chances_kind_of(struct chances *chances, struct kind_table *table, uint32_t rank)
{
	const uint64_t held =
		(uint64_t)(uintptr_t)event_instruction(chances_event_at(chances, rank));
	const uint64_t until = (uint64_t)(uintptr_t)event_instruction(
		chances_event_at(chances, chances->rivals[rank]));
	const uint64_t key = hash_mix(hash_mix(held) + until) | 1;
	struct kind_slot *slot;

	table->slots = slots_reserve(
		table->slots, &table->capacity, sizeof *table->slots, table->count, 256);
	slot = slots_find(table->slots, table->capacity, sizeof *slot, key);
	if (slot->key)
		return slot->kind;
	if (chances->kind_count == chances->kind_capacity) {
		chances->kind_capacity = chances->kind_capacity ? 2 * chances->kind_capacity : 64;
		chances->kinds =
			realloc(chances->kinds, chances->kind_capacity * sizeof *chances->kinds);
		BUG_ON(!chances->kinds);
	}
	chances->kinds[chances->kind_count] = (struct chance_kind){0};
	*slot = (struct kind_slot){key, chances->kind_count++};
	table->count++;
	return slot->kind;
}

/* A thread cannot be held at an atomic update's write, as the write happens with its read. */
static bool chances_is_chance(const struct chances *chances, uint32_t rank)
{
	return chances->rivals[rank] != NONE && !chances_event_at(chances, rank)->is_atomic;
}

static void list_kinds(struct chances *chances)
{
	const uint32_t count = (uint32_t)chances->rehearsal->order->event_count;
	struct kind_table table = {0};
	uint32_t *kinds = ranks_of(chances), *used;

	chances->kinds_of = kinds;

	for (uint32_t rank = 0; rank < count; rank++)
		if (chances_is_chance(chances, rank)) {
			kinds[rank] = chances_kind_of(chances, &table, rank);
			chances->kinds[kinds[rank]].count++;
			chances->item_count++;
		}
	free(table.slots);
	for (uint32_t i = 1; i < chances->kind_count; i++)
		chances->kinds[i].first = chances->kinds[i - 1].first + chances->kinds[i - 1].count;
	chances->items = calloc(chances->item_count + 1u, sizeof *chances->items);
	used = calloc(chances->kind_count + 1u, sizeof *used);
	BUG_ON(!chances->items || !used);
	for (uint32_t rank = 0; rank < count; rank++)
		if (kinds[rank] != NONE)
			chances->items[chances->kinds[kinds[rank]].first + used[kinds[rank]]++] =
				rank;
	free(used);
}

void chances_open(struct chances *chances, const struct rehearsal *rehearsal)
{
	*chances = (struct chances){.rehearsal = rehearsal};
	chances->rivals = ranks_of(chances);
	chances->rival_writes = ranks_of(chances);
	chances->sources = ranks_of(chances);
	find_rivals(chances);
	find_sources(chances);
	list_kinds(chances);
	chances_list_groups(chances);
}

void chances_release(struct chances *chances)
{
	free(chances->rivals);
	free(chances->rival_writes);
	free(chances->sources);
	free(chances->kinds_of);
	free(chances->kinds);
	free(chances->items);
	free(chances->groups);
	free(chances->group_places);
	free(chances->group_firsts);
	*chances = (struct chances){0};
}

/* ---- holds ---- */

static bool chances_is_in(const struct order_section *section, struct event_id event)
{
	return section->begin < event.index && event.index < section->end;
}

/* Whether the event lies in a section of this lock. */
static bool is_under(const struct order *order, struct event_id event, uint64_t lock)
{
	const struct order_sections *index = &order->by_thread;

	for (uint32_t i = order_sections_from(index, event.thread, event.index);
		i < index->first[event.thread + 1]; i++) {
		const struct order_section *section = &order->sections[index->items[i]];

		if (section->begin >= event.index)
			return false;
		if (section->lock == lock && chances_is_in(section, event))
			return true;
	}
	return false;
}

/*
 * If the held thread would hold a lock that the other thread needs, it is held before it takes the
 * lock instead.
 */
static struct event_id outside_of_locks(
	const struct order *order, struct event_id held, struct event_id until)
{
	const struct order_sections *index = &order->by_thread;

	for (uint32_t i = order_sections_from(index, held.thread, held.index);
		i < index->first[held.thread + 1]; i++) {
		const struct order_section *section = &order->sections[index->items[i]];

		if (section->begin >= held.index)
			break;
		if (chances_is_in(section, held) && is_under(order, until, section->lock))
			return (struct event_id){held.thread, section->begin};
	}
	return held;
}

void hold_list_add(struct hold_list *list, const struct hold *hold)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 64;
		list->items = realloc(list->items, list->capacity * sizeof *list->items);
		BUG_ON(!list->items);
	}
	list->items[list->count++] = *hold;
}

static void add(const struct chances *chances, struct event_id held, uint32_t until, bool is_long,
	struct hold_list *list)
{
	const struct event_id event = id_at(chances, until);

	hold_list_add(list,
		&(struct hold){.held = outside_of_locks(chances->rehearsal->order, held, event),
			.until = event,
			.is_long = is_long});
}

void chances_add(const struct chances *chances, uint32_t rank, bool is_long, struct hold_list *list)
{
	const struct event_id held = id_at(chances, rank);
	const uint32_t rival = chances->rivals[rank], write = chances->rival_writes[rank];

	if (!chances_is_chance(chances, rank))
		return;
	add(chances, held, rival, false, list);
	if (write != NONE && write != rival)
		add(chances, held, write, false, list);
	if (is_long)
		add(chances, held, rival, true, list);
}

/* ---- dependences of an outcome ---- */

/*
 * Limits of the search for dependences: accesses per outcome; reads per term, so that older
 * accesses get their share; candidates of one kind; operations of one term.
 */
#define BEHIND_MOST 256
#define READS_MOST 8
#define ALIKE_MOST 4
#define TERMS_MOST 4096

struct behind {
	const struct chances *chances;
	uint32_t ranks[BEHIND_MOST]; /* accesses found, nearest first */
	uint32_t count;
	uint32_t terms_left, reads_left; /* budgets of the current term */
};

static void chances_add_access(struct behind *behind, uint32_t rank)
{
	for (uint32_t i = 0; i < behind->count; i++)
		if (behind->ranks[i] == rank)
			return;
	if (behind->count < BEHIND_MOST)
		behind->ranks[behind->count++] = rank;
}

static void add_reads(struct behind *behind, const struct term *term)
{
	const struct rehearsal *rehearsal = behind->chances->rehearsal;

	while (term && term->op != TERM_CONSTANT && behind->terms_left && behind->reads_left) {
		behind->terms_left--;
		if (term->op == TERM_VARIABLE) {
			const struct event_id read = rehearsal->order->reads[term->number];

			chances_add_access(behind, rehearsal->ranks[read.thread][read.index]);
			behind->reads_left--;
			return;
		}
		/*
		 * Sums are left-deep: visiting the right operands first finds the newest summand
		 * first.
		 */
		add_reads(behind, term_operand(term, 1));
		add_reads(behind, term_operand(term, 2));
		term = term_operand(term, 0);
	}
}

static void chances_add_term(struct behind *behind, const struct term *term)
{
	behind->terms_left = TERMS_MOST;
	behind->reads_left = READS_MOST;
	add_reads(behind, term);
}

/* Whether enough earlier accesses are of the same kind. */
static bool is_one_of_many(const struct behind *behind, uint32_t number)
{
	const uint32_t *kinds = behind->chances->kinds_of;
	uint32_t count = 0;

	for (uint32_t i = 0; i < number; i++)
		count += kinds[behind->ranks[i]] == kinds[behind->ranks[number]];
	return count >= ALIKE_MOST;
}

void chances_add_behind(const struct chances *chances, struct event_id goal, struct hold_list *list)
{
	const struct walk *walk = chances->rehearsal->walk;
	struct behind behind = {.chances = chances};

	chances_add_term(
		&behind, walk_event_term(walk, &walk->threads[goal.thread].events[goal.index]));
	for (uint32_t i = 0; i < behind.count; i++) {
		const struct walk_event *event = chances_event_at(chances, behind.ranks[i]);
		const uint32_t source = chances->sources[behind.ranks[i]];

		if (!is_one_of_many(&behind, i))
			chances_add(chances, behind.ranks[i], true, list);
		chances_add_term(&behind, walk_event_at(walk, event));
		if (event->kind == EVENT_WRITE) {
			chances_add_term(&behind, walk_event_term(walk, event));
			chances_add_term(&behind, walk_event_when(walk, event));
		} else if (source != NONE) {
			chances_add_access(&behind, source);
		}
	}
}

/* ---- order ---- */

static int chances_compare(const void *left, const void *right)
{
	const struct hold *a = left, *b = right;

	if (a->held.thread != b->held.thread)
		return a->held.thread < b->held.thread ? -1 : 1;
	if (a->held.index != b->held.index)
		return a->held.index < b->held.index ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->is_long != b->is_long)
		return a->is_long ? 1 : -1;
	if (a->is_long)
		return 0;
	if (a->until.thread != b->until.thread)
		return a->until.thread < b->until.thread ? -1 : 1;
	return a->until.index < b->until.index ? -1 : a->until.index > b->until.index;
}

struct ranked {
	uint32_t rank, number;
};

static int chances_compare_ranks(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

void chances_sort(const struct chances *chances, struct hold_list *list)
{
	struct ranked *order = calloc(list->count + 1u, sizeof *order);
	struct hold *sorted = calloc(list->count + 1u, sizeof *sorted);
	uint32_t count = 0;

	BUG_ON(!order || !sorted);
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, chances_compare);
	for (uint32_t i = 0; i < list->count; i++)
		if (!i || chances_compare(&list->items[i], &list->items[count - 1]) != 0)
			list->items[count++] = list->items[i];
	list->count = count;
	for (uint32_t i = 0; i < count; i++) {
		const struct event_id held = list->items[i].held;

		order[i] = (struct ranked){chances->rehearsal->ranks[held.thread][held.index], i};
	}
	if (count)
		qsort(order, count, sizeof *order, chances_compare_ranks);
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = list->items[order[i].number];
	free(list->items);
	free(order);
	list->items = sorted;
	list->capacity = count + 1;
}
