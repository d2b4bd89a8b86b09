/* Runs in the moving thread, and in the rewind server between runs. */
#include "strategies/history.h"

#include "base/bitset.h"
#include "base/bug.h"

/* The words of `enabled` follow, and without repeat_prefix() new names and changed ops. */
struct history_entry {
	uint32_t words;	 /* size of the entry including this header */
	uint16_t chosen; /* thread, or value */
	bool is_value;
	uint16_t current;
	uint16_t thread_count;
	uint16_t new_threads;
	uint16_t changes;
	uint32_t choices; /* number of enabled threads, or of values */
	uint32_t before;  /* size of the previous entry */
	uint64_t step;
};

struct history_change {
	uint64_t thread;
	struct pending_op op;
};

#define WORDS_OF(type) (sizeof(type) / sizeof(uint64_t))

_Static_assert(sizeof(struct history_entry) % sizeof(uint64_t) == 0, "entries are whole words");
_Static_assert(sizeof(struct history_change) % sizeof(uint64_t) == 0, "changes are whole words");

static struct history_entry *history_entry_at(struct history *history, uint64_t at)
{
	return (struct history_entry *)(history->record + at);
}

static uint64_t *history_enabled_of(struct history_entry *entry)
{
	return (uint64_t *)(entry + 1);
}

static uint64_t *history_names_of(struct history_entry *entry)
{
	return (uint64_t *)(history_enabled_of(entry) + BITSET_WORDS(entry->thread_count));
}

static struct history_change *history_changes_of(struct history_entry *entry)
{
	return (struct history_change *)(history_names_of(entry) + entry->new_threads);
}

void history_begin(
	struct history *history, uint64_t bytes, const struct strategy *strategy, void *state)
{
	history->strategy = strategy;
	history->state = state;
	history->capacity = (bytes - sizeof *history) / sizeof(uint64_t);
	history->is_whole = false;
	history->used = history->count = history->decided = 0;
}

static void history_begin_record(struct history *history)
{
	history->is_whole = true;
	history->used = history->count = history->decided = history->last_words = 0;
	history->is_open = false;
	for (uint32_t i = 0; i < history->thread_count; i++)
		history->pending[i] = (struct pending_op){0};
	history->thread_count = 0;
}

static struct schedule_view history_view_of(struct history *history, struct history_entry *entry)
{
	const struct history_change *changes = history_changes_of(entry);

	for (uint32_t i = 0; i < entry->new_threads; i++)
		history->names[history->thread_count + i] = (thread_name)history_names_of(entry)[i];
	history->thread_count = entry->thread_count;
	for (uint32_t i = 0; i < entry->changes; i++)
		history->pending[changes[i].thread] = changes[i].op;
	return (struct schedule_view){
		.thread_count = entry->thread_count,
		.enabled_count = entry->choices,
		.enabled = history_enabled_of(entry),
		.pending = history->pending,
		.names = history->names,
		.current = {entry->current},
		.step = entry->step,
		.heap_position = history->heap_position,
	};
}

/* Asks the strategy about the entry. Returns false if the strategy chose differently, and the
 * prefix ends. */
static bool history_repeat_entry(struct history *history, struct history_entry *entry)
{
	const struct strategy *strategy = history->strategy;
	struct schedule_view view;
	uint16_t chosen;

	if (entry->is_value) {
		chosen = (uint16_t)strategy->choose_value(history->state, entry->choices);
		if (chosen == entry->chosen)
			return true;
		entry->chosen = chosen;
		return false;
	}
	view = history_view_of(history, entry);
	chosen = strategy->choose(history->state, &view).index;
	if (chosen != entry->chosen) {
		entry->chosen = chosen;
		history->is_open = true;
		return false;
	}
	if (strategy->executed)
		strategy->executed(history->state, &view, (struct thread_id){chosen});
	return true;
}

/* Repeats the prefix that this run shares with the last one, as far as the strategy says. Drops the
 * rest of the record. */
static uint32_t history_repeat_prefix(struct history *history, uint64_t seed)
{
	const uint32_t equal_count =
		history->strategy->fast_path.repeat_prefix(history->state, seed);

	BUG_ON(equal_count > history->count);
	history->is_next_shown = history->count > equal_count;
	for (; history->count > equal_count; history->count--) {
		history->used -= history->last_words;
		history->last_words = history_entry_at(history, history->used)->before;
	}
	history->decided = equal_count;
	history->is_open = false;
	return equal_count;
}

uint32_t history_begin_run(struct history *history, uint64_t seed)
{
	const uint32_t count = history->is_whole ? history->count : 0;
	uint32_t same = 0;
	uint64_t at = 0;

	history->awaits_executed = history->is_executed_known = false;
	history->number = 0;
	history->at = 0;
	if (count && history->strategy->fast_path.repeat_prefix)
		return history_repeat_prefix(history, seed);
	history->is_next_shown = false;
	history_begin_record(history);
	history->strategy->begin_run(history->state, seed);
	while (history->decided < count) {
		struct history_entry *entry = history_entry_at(history, at);
		const bool is_same = history_repeat_entry(history, entry);

		at += entry->words;
		history->last_words = entry->words;
		history->decided++;
		if (!is_same)
			break;
		same++;
	}
	history->count = history->decided;
	history->used = at;
	return same;
}

void history_resume(struct history *history, uint32_t number, uint64_t at)
{
	history->number = number;
	history->at = at;
	history->awaits_executed = history->is_executed_known = false;
}

bool history_matches(const struct history *history, const struct schedule_view *view)
{
	struct history_entry *entry;

	if (history->number >= history->decided + history->is_next_shown)
		return true;
	entry = history_entry_at((struct history *)history, history->at);
	if (entry->is_value || entry->thread_count != view->thread_count ||
		entry->choices != view->enabled_count || entry->step != view->step ||
		entry->current != view->current.index)
		return false;
	for (uint32_t i = 0; i < BITSET_WORDS(view->thread_count); i++)
		if (history_enabled_of(entry)[i] != view->enabled[i])
			return false;
	return true;
}

/* Returns NULL if no space is left; the record is invalid then. */
static struct history_entry *history_append(struct history *history, uint64_t words)
{
	struct history_entry *entry = history_entry_at(history, history->used);

	if (!history->is_whole || words > history->capacity - history->used) {
		history->is_whole = false;
		return NULL;
	}
	*entry = (struct history_entry){.words = (uint32_t)words, .before = history->last_words};
	history->last_words = (uint32_t)words;
	history->is_next_shown = false;
	history->used += words;
	history->count++;
	history->decided++;
	history->number++;
	history->at = history->used;
	return entry;
}

static bool history_is_same_op(const struct pending_op *a, const struct pending_op *b)
{
	return a->kind == b->kind && a->flags == b->flags && a->second == b->second &&
	       a->object == b->object && a->site == b->site;
}

static uint32_t history_find_changes(
	struct history *history, const struct schedule_view *view, uint16_t *threads)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < view->thread_count; i++)
		if (!history_is_same_op(&history->pending[i], &view->pending[i]))
			threads[count++] = (uint16_t)i;
	return count;
}

static void history_record_changes(struct history_entry *entry, struct history *history,
	const struct schedule_view *view, const uint16_t *threads)
{
	for (uint32_t i = 0; i < entry->new_threads; i++)
		history_names_of(entry)[i] = history->names[history->thread_count + i] =
			view->names[history->thread_count + i];
	for (uint32_t i = 0; i < entry->changes; i++) {
		history_changes_of(entry)[i] =
			(struct history_change){threads[i], view->pending[threads[i]]};
		history->pending[threads[i]] = view->pending[threads[i]];
	}
	history->thread_count = view->thread_count;
}

static void history_record(
	struct history *history, const struct schedule_view *view, uint16_t chosen)
{
	const bool is_asked_again = !history->strategy->fast_path.repeat_prefix;
	const uint32_t words = BITSET_WORDS(view->thread_count);
	uint16_t threads[HISTORY_THREADS];
	struct history_entry *entry;
	uint32_t changes = 0, new_threads = 0;

	if (view->thread_count > HISTORY_THREADS || view->contexts)
		history->is_whole = false;
	history->heap_position = view->heap_position;
	if (!history->is_whole)
		return;
	if (is_asked_again) {
		changes = history_find_changes(history, view, threads);
		new_threads = view->thread_count - history->thread_count;
	}
	entry = history_append(history, WORDS_OF(struct history_entry) + words + new_threads +
						changes * WORDS_OF(struct history_change));
	if (!entry)
		return;
	entry->chosen = chosen;
	entry->current = view->current.index;
	entry->thread_count = (uint16_t)view->thread_count;
	entry->new_threads = (uint16_t)new_threads;
	entry->changes = (uint16_t)changes;
	entry->choices = view->enabled_count;
	entry->step = view->step;
	for (uint32_t i = 0; i < words; i++)
		history_enabled_of(entry)[i] = view->enabled[i];
	if (is_asked_again)
		history_record_changes(entry, history, view, threads);
}

static struct history_entry *history_next_entry(struct history *history)
{
	struct history_entry *entry;

	if (history->number >= history->decided)
		return NULL;
	entry = history_entry_at(history, history->at);
	history->at += entry->words;
	history->number++;
	return entry;
}

static struct thread_id history_choose(void *state, const struct schedule_view *view)
{
	struct history *history = state;
	struct history_entry *entry = history_next_entry(history);
	struct thread_id chosen;

	/* A decision at a spin point is no step (engine_spin_point) and depends on real time. */
	if (history->awaits_executed)
		history->is_whole = false;
	history->awaits_executed = true;
	if (entry) {
		history->is_executed_known =
			history->number < history->decided || !history->is_open;
		return (struct thread_id){entry->chosen};
	}
	history->is_executed_known = false;
	chosen = history->strategy->choose(history->state, view);
	history_record(history, view, chosen.index);
	return chosen;
}

static void history_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct history *history = state;

	history->awaits_executed = false;
	if (!history->is_executed_known && history->strategy->executed)
		history->strategy->executed(history->state, view, thread);
}

static void history_ending(void *state, const struct schedule_view *view)
{
	struct history *history = state;

	if (history->strategy->ending)
		history->strategy->ending(history->state, view);
}

static uint32_t history_choose_value(void *state, uint32_t count)
{
	struct history *history = state;
	struct history_entry *entry = history_next_entry(history);
	uint32_t value;

	if (entry)
		return entry->chosen;
	value = history->strategy->choose_value(history->state, count);
	entry = history_append(history, WORDS_OF(struct history_entry));
	if (entry) {
		entry->is_value = true;
		entry->chosen = (uint16_t)value;
		entry->choices = count;
	}
	return value;
}

const struct strategy history_strategy = {
	.name = "history",
	.summary = "another strategy, with a record of what it saw",
	.choose = history_choose,
	.executed = history_executed,
	.choose_value = history_choose_value,
	.ending = history_ending,
};
