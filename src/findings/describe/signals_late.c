/* Finds a change of the tested variable that the signaller makes only after its last signal (signals.h). */
#include "findings/describe/signals.h"

static bool signals_late_is_write(const struct trace_event *event)
{
	return op_descriptions[event->kind].object == OBJECT_MEMORY &&
	       !(op_descriptions[event->kind].flags & OP_READ);
}

static bool signals_late_is_overlapping(const struct trace_event *a, const struct trace_event *b)
{
	return op_descriptions[a->kind].object == OBJECT_MEMORY &&
	       op_descriptions[b->kind].object == OBJECT_MEMORY &&
	       a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

/* Did the waiter read what the write changes, in its last critical section and before the write? */
static bool signals_late_was_tested(
	const struct finding_source *source, const struct signal_history *history, uint64_t write)
{
	const uint16_t waiter = source->events[history->wait].thread;

	for (uint64_t i = history->lock + 1; i < history->wait && i < write; i++)
		if (source->events[i].thread == waiter &&
			signals_late_is_overlapping(&source->events[i], &source->events[write]))
			return true;
	return false;
}

/*
 * Does the signal announce an earlier change by other code? Then the late write may take the announced value away
 * again. Code that repeats "signal, then change" has changed the variable at the same location before. Changes before
 * the waiter exists are its initialisation.
 */
static bool signals_late_announces_other(
	const struct finding_source *source, const struct signal_history *history, uint64_t write)
{
	const struct trace_event *late = &source->events[write];
	const uint16_t waiter = source->events[history->wait].thread;
	const struct trace_event *announced = NULL;
	bool has_waiter = false;

	for (uint64_t i = 0; i < history->signal; i++) {
		const struct trace_event *event = &source->events[i];

		has_waiter |= event->thread == waiter;
		if (has_waiter && event->thread == late->thread && signals_late_is_write(event) &&
			signals_late_is_overlapping(event, late))
			announced = event;
	}
	return announced && announced->site != late->site;
}

/* Does the thread hold the mutex when it makes the event? */
static bool signals_late_holds(const struct finding_source *source, uint64_t at, uint64_t mutex)
{
	for (uint64_t i = at; i-- > 0;)
		if (source->events[i].thread == source->events[at].thread &&
			source->events[i].address == mutex)
			return source->events[i].kind == OP_MUTEX_LOCK;
	return false;
}

static bool signals_late_is_signalled(
	const struct finding_source *source, const struct signal_history *history, uint64_t from)
{
	for (uint64_t i = from; i < source->event_count; i++)
		if (source->events[i].address == history->edge->object_address &&
			(source->events[i].kind == OP_COND_SIGNAL ||
				source->events[i].kind == OP_COND_BROADCAST))
			return true;
	return false;
}

uint64_t signal_history_late_change(
	const struct finding_source *source, const struct signal_history *history)
{
	uint64_t mutex;
	bool is_released;

	if (history->signal == NO_EVENT || history->lock == NO_EVENT)
		return NO_EVENT;
	mutex = source->events[history->lock].address;
	/* A change in the critical section of the signal is visible to the woken thread. */
	is_released = !signals_late_holds(source, history->signal, mutex);
	for (uint64_t i = history->signal + 1; i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i];

		if (event->thread != source->events[history->signal].thread)
			continue;
		is_released |= event->kind == OP_MUTEX_UNLOCK && event->address == mutex;
		if (is_released && signals_late_is_write(event) &&
			signals_late_was_tested(source, history, i) &&
			!signals_late_announces_other(source, history, i) &&
			!signals_late_is_signalled(source, history, i))
			return i;
	}
	return NO_EVENT;
}
