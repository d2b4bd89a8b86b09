/* The list of a thread's events, pinned terms, and calls that the walk cannot follow. */
#include <string.h>

#include "base/array.h"
#include "base/starts_with.h"
#include "branches/interpret/walk_internal.h"

#define EVENTS_AT_ONCE 64u

void walk_begin_events(struct walked_thread *out)
{
	out->first = out->count;
	out->critical_count = out->branch_count = 0;
}

/* Threads are walked one after the other, so the thread's array is the last one in memory. */
void walk_grow_events(struct walker *walker)
{
	struct walk *walk = walker->walk;
	struct walked_thread *out = walker->out;

	stretch_reach(
		&walk->event_memory, (walk->event_room + EVENTS_AT_ONCE) * sizeof *out->events);
	if (!out->events)
		out->events =
			(struct walk_event *)(void *)walk->event_memory.memory + walk->event_room;
	out->capacity += EVENTS_AT_ONCE;
	walk->event_room += EVENTS_AT_ONCE;
	if (walker->steps > UINT32_MAX - 1000000u && !walker->is_over)
		(void)walk_end_at(walker, WALK_UNKNOWN, "more steps than are counted");
}

void walk_trim_events(struct walk *walk, struct walked_thread *out)
{
	walk->event_room -= out->capacity - out->count;
	out->capacity = out->count;
}

/* Returns whether the function is a synchronisation operation. Programs do not compute with the
 * contents of its objects. */
static bool walk_event_is_operation(const char *name)
{
	static const char *const prefixes[] = {"pthread_", "sem_", "mtx_", "cnd_", "thrd_"};

	return STARTS_WITH_ANY(name, prefixes);
}

void walk_note_unknown(struct walker *walker, const struct code *call, bool is_read)
{
	struct walk *walk = walker->walk;
	LLVMValueRef callee = LLVMGetCalledValue(call->value);
	size_t length;
	const char *name = LLVMIsAFunction(callee)    ? LLVMGetValueName2(callee, &length)
			   : LLVMIsAInlineAsm(callee) ? "inline assembly"
						      : "a pointer";
	uint32_t i = 0;

	if (walker->is_before || (is_read && walk_event_is_operation(name)))
		return;
	while (i < walk->unknown_count &&
		(walk->unknowns[i].is_read != is_read || strcmp(walk->unknowns[i].name, name) != 0))
		i++;
	if (i == walk->unknown_count)
		ARRAY_APPEND(walk->unknowns, walk->unknown_count,
			(struct walk_unknown){.name = name, .is_read = is_read});
	walk->unknowns[i].count++;
}

struct walk_event *walk_add_term_event(
	struct walker *walker, enum event_kind kind, struct term *term, const struct code *code)
{
	struct walk_event *event = walk_add_event(walker, kind);

	event->term = term_index(&walker->walk->terms, term);
	event->value = term->value;
	event_set_instruction(event, code->value);
	return event;
}

struct walk_event *walk_pin(
	struct walker *walker, enum event_kind kind, struct term *term, const struct code *code)
{
	/* A divisor is not pinned: what follows is valid for every divisor except zero. */
	if (!term || term->op == TERM_CONSTANT || (kind != EVENT_DIVISOR && !term_pin(term)))
		return NULL;
	return walk_add_term_event(walker, kind, term, code);
}

void walk_join_events(struct walker *walker, uint64_t first)
{
	const struct walked_thread *out = walker->out;
	bool has_begun = false;

	for (uint64_t i = first; i < out->count; i++) {
		struct walk_event *event = &out->events[i];

		if (!event_is_access(event))
			continue;
		event->is_atomic = has_begun;
		has_begun = true;
	}
}
