#include "findings/describe/signals.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"

/* Upper bound for nested mutexes that a thread releases and takes again between two events; deeper nesting is ignored. */
#define RELEASED_MAX 16
/* Upper bound for the writes before a signal that may have changed the waiter's condition. */
#define CHANGES_MAX 64

static bool signals_is_wait(const struct trace_event *event, uint64_t cond)
{
	return event->kind == OP_COND_WAIT && event->address == cond;
}

static bool signals_is_signal(const struct trace_event *event, uint64_t cond)
{
	return (event->kind == OP_COND_SIGNAL || event->kind == OP_COND_BROADCAST) &&
	       event->address == cond;
}

/* A thread's own signal cannot be the one that its wait needs. */
static bool signals_is_for(const struct trace_event *event, const struct wait_edge *edge)
{
	return signals_is_signal(event, edge->object_address) &&
	       event->thread != edge->waiter.index;
}

static bool signals_is_memory(const struct trace_event *event)
{
	return op_descriptions[event->kind].object == OBJECT_MEMORY;
}

static bool signals_is_write(const struct trace_event *event)
{
	return signals_is_memory(event) && !(op_descriptions[event->kind].flags & OP_READ);
}

static bool signals_is_overlapping(const struct trace_event *a, const struct trace_event *b)
{
	return a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

static uint64_t signals_next(const struct finding_source *source, uint64_t at)
{
	for (uint64_t i = at + 1; i < source->event_count; i++)
		if (source->events[i].thread == source->events[at].thread &&
			!signals_is_memory(&source->events[i]))
			return i;
	return NO_EVENT;
}

static uint64_t signals_previous(const struct finding_source *source, uint64_t at)
{
	for (uint64_t i = at; i-- > 0;)
		if (source->events[i].thread == source->events[at].thread &&
			!signals_is_memory(&source->events[i]))
			return i;
	return NO_EVENT;
}

/* The event at which the thread took the mutex that its wait releases. Assumed to be the innermost lock it holds. */
static uint64_t signals_lock_of_wait(const struct finding_source *source, uint64_t wait)
{
	uint64_t released[RELEASED_MAX];
	unsigned count = 0;

	for (uint64_t i = wait; i-- > 0;) {
		const struct trace_event *event = &source->events[i];
		unsigned at = 0;

		if (event->thread != source->events[wait].thread ||
			op_descriptions[event->kind].object != OBJECT_MUTEX)
			continue;
		while (at < count && released[at] != event->address)
			at++;
		if (event->kind == OP_MUTEX_UNLOCK && at == count && count < RELEASED_MAX)
			released[count++] = event->address;
		else if (event->kind == OP_MUTEX_LOCK && at < count)
			released[at] = released[--count];
		else if (event->kind == OP_MUTEX_LOCK)
			return i;
	}
	return NO_EVENT;
}

struct signal_wake {
	uint64_t signal; /* the event that ended the wait, or NO_EVENT if none has */
	uint64_t wait;	 /* event */
	uint64_t end;	 /* the thread's next event, or NO_EVENT if none follows */
};

struct signal_wakes {
	const struct finding_source *source;
	const struct wait_edge *edge;
	struct signal_wake *waits; /* all waits on the condition variable, in trace order; owned */
	uint64_t count;
	uint64_t first; /* waits before this index have ended */
};

/* A signalled thread locks its mutex next, or is blocked on that mutex at the end of the run. */
static bool signals_ends_by_signal(const struct signal_wakes *wakes, const struct signal_wake *wake)
{
	const struct trace_event *events = wakes->source->events;
	const struct outcome *outcome = wakes->source->outcome;

	if (wake->end != NO_EVENT)
		return events[wake->end].kind == OP_MUTEX_LOCK;
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		if (outcome->waits[i].waiter.index == events[wake->wait].thread)
			return outcome->waits[i].op == OP_MUTEX_LOCK;
	return false;
}

static bool signals_is_over(const struct signal_wake *wake, uint64_t now)
{
	return wake->signal != NO_EVENT || wake->end < now;
}

/* Assigns a broadcast to all waiters, and a signal to the waiter without a signal that proceeds first: the trace names none. */
static void signals_wake(struct signal_wakes *wakes, uint64_t signal)
{
	const bool is_broadcast = wakes->source->events[signal].kind == OP_COND_BROADCAST;
	struct signal_wake *woken = NULL;

	while (wakes->first < wakes->count && signals_is_over(&wakes->waits[wakes->first], signal))
		wakes->first++;
	for (uint64_t i = wakes->first; i < wakes->count; i++) {
		struct signal_wake *wake = &wakes->waits[i];

		if (signals_is_over(wake, signal) || !signals_ends_by_signal(wakes, wake))
			continue;
		if (is_broadcast)
			wake->signal = signal;
		else if (!woken || wake->end < woken->end)
			woken = wake;
	}
	if (woken)
		woken->signal = signal;
}

static void signals_fill(struct signal_wakes *wakes, const struct finding_source *source,
	const struct wait_edge *edge)
{
	uint64_t capacity = 0;

	*wakes = (struct signal_wakes){.source = source, .edge = edge};
	for (uint64_t i = 0; i < source->event_count; i++)
		capacity += signals_is_wait(&source->events[i], edge->object_address);
	wakes->waits = array_new(capacity + 1, sizeof *wakes->waits);
	for (uint64_t i = 0; i < source->event_count; i++) {
		if (signals_is_wait(&source->events[i], edge->object_address))
			wakes->waits[wakes->count++] = (struct signal_wake){
				.signal = NO_EVENT, .wait = i, .end = signals_next(source, i)};
		else if (signals_is_signal(&source->events[i], edge->object_address))
			signals_wake(wakes, i);
	}
}

static const struct signal_wake *signals_woken_by(const struct signal_wakes *wakes, uint64_t signal)
{
	for (uint64_t i = 0; i < wakes->count; i++)
		if (wakes->waits[i].signal == signal)
			return &wakes->waits[i];
	return NULL;
}

static uint32_t signals_count_waiting(const struct signal_wakes *wakes, uint64_t signal)
{
	uint32_t count = 0;

	for (uint64_t i = 0; i < wakes->count; i++)
		count += wakes->waits[i].wait < signal && wakes->waits[i].end > signal &&
			 (wakes->waits[i].signal == NO_EVENT || wakes->waits[i].signal >= signal);
	return count;
}

static uint32_t signals_count_unreceived(
	const struct signal_wakes *wakes, uint64_t from, uint64_t to)
{
	uint32_t count = 0;

	for (uint64_t i = from; i < to; i++)
		count += signals_is_for(&wakes->source->events[i], wakes->edge) &&
			 !signals_count_waiting(wakes, i);
	return count;
}

static uint64_t signals_last(const struct finding_source *source, const struct wait_edge *edge,
	uint64_t from, uint64_t to)
{
	for (uint64_t i = to; i-- > from;)
		if (signals_is_for(&source->events[i], edge))
			return i;
	return NO_EVENT;
}

/* The woken thread's next wait, if it did nothing else in between: it then found its condition false. */
static uint64_t signals_waits_again(
	const struct signal_wakes *wakes, const struct signal_wake *woken)
{
	const struct finding_source *source = wakes->source;
	const uint64_t again = woken->end == NO_EVENT ? NO_EVENT : signals_next(source, woken->end);

	return again != NO_EVENT &&
			       signals_is_wait(&source->events[again], wakes->edge->object_address)
		       ? again
		       : NO_EVENT;
}

/* The waiter's last read, before the write, of the variable that the write changes: its test of the condition. */
static uint64_t signals_test_of(
	const struct finding_source *source, uint64_t change, const struct signal_history *history)
{
	const uint16_t waiter = source->events[history->wait].thread;
	const struct trace_event *write = &source->events[change];
	uint64_t test = NO_EVENT;

	for (uint64_t i = history->wait; i-- > 0;) {
		const struct trace_event *event = &source->events[i];

		if (event->thread != waiter || !signals_is_memory(event) ||
			!signals_is_overlapping(event, write))
			continue;
		if (i > change)
			return NO_EVENT; /* the waiter has seen the change */
		test = i;
		break;
	}
	return test;
}

/* Finds the variable of the condition: the signaller wrote it before the signal, and the waiter read it only before that write. */
static void signals_find_change(const struct finding_source *source, struct signal_history *history)
{
	const struct trace_event *signal = &source->events[history->signal];
	unsigned writes = 0;

	for (uint64_t i = history->signal; i-- > 0 && writes < CHANGES_MAX;) {
		if (source->events[i].thread != signal->thread ||
			!signals_is_write(&source->events[i]))
			continue;
		writes++;
		history->test = signals_test_of(source, i, history);
		if (history->test == NO_EVENT)
			continue;
		history->change = i;
		return;
	}
}

/* Did the signaller unlock the waiter's mutex directly before the signal, and before the waiter
 * locked it? Then the signal was not lost. */
static bool signals_follows_unlock(
	const struct finding_source *source, const struct signal_history *history)
{
	const uint64_t before = signals_previous(source, history->signal);

	return before != NO_EVENT && source->events[before].kind == OP_MUTEX_UNLOCK &&
	       source->events[before].address == source->events[history->lock].address &&
	       before < history->lock;
}

/* Finds a signal between the waiter's lock and its wait. Its signaller cannot have held the mutex. */
static bool signals_find_behind_test(const struct finding_source *source,
	const struct wait_edge *edge, struct signal_history *out)
{
	uint64_t last;

	if (out->lock == NO_EVENT)
		return false;
	last = signals_last(source, edge, out->lock + 1, out->wait);
	if (last == NO_EVENT)
		return false;
	/* Rather the last signal whose signaller changed what the waiter had tested. */
	for (out->signal = last; out->signal != NO_EVENT && out->change == NO_EVENT;) {
		signals_find_change(source, out);
		if (out->change == NO_EVENT)
			out->signal = signals_last(source, edge, out->lock + 1, out->signal);
	}
	if (out->signal == NO_EVENT)
		out->signal = last;
	/* A change before the waiter's lock was visible to its test, so the signal was not lost. */
	return out->change != NO_EVENT || !signals_follows_unlock(source, out);
}

/* Did the waiter leave a critical section after the signal? It could see the changed condition there. */
static bool signals_has_released(
	const struct finding_source *source, const struct signal_history *history)
{
	for (uint64_t i = history->signal; i < history->wait; i++)
		if (source->events[i].thread == source->events[history->wait].thread &&
			source->events[i].kind == OP_MUTEX_UNLOCK &&
			source->events[i].address == source->events[history->lock].address)
			return true;
	return false;
}

/* Does the waiter read, between its lock and its wait, what the signaller wrote before the signal? */
static bool signals_has_read_change(
	const struct finding_source *source, const struct signal_history *history)
{
	const uint16_t signaller = source->events[history->signal].thread;
	const uint16_t waiter = source->events[history->wait].thread;
	unsigned writes = 0;

	for (uint64_t i = history->signal; i-- > 0 && writes < CHANGES_MAX;) {
		const struct trace_event *write = &source->events[i];

		if (write->thread != signaller || !signals_is_write(write))
			continue;
		writes++;
		for (uint64_t at = history->lock + 1; at < history->wait; at++)
			if (source->events[at].thread == waiter &&
				signals_is_memory(&source->events[at]) &&
				signals_is_overlapping(&source->events[at], write))
				return true;
	}
	return false;
}

/* std::condition_variable::wait(lock, predicate) tests the predicate before it waits. An inlined call has
 * no class in its name: a lock's type begins with std, and a predicate's does not. */
static bool signals_has_predicate(const struct finding_wait *blocked)
{
	static const char *const class = "std::condition_variable::", *const name = "wait<";

	for (uint32_t i = 0; blocked && i < blocked->at.count; i++) {
		const struct finding_frame *frame = &blocked->at.frames[i];
		const char *function = frame->function ? frame->function : "";
		const bool has_class = !strncmp(function, class, strlen(class));

		if (has_class)
			function += strlen(class);
		if (strncmp(function, name, strlen(name)) != 0)
			continue;
		if (has_class ||
			(frame->file && !strcmp(base_name(frame->file), "condition_variable") &&
				strncmp(function + strlen(name), "std::", 5) != 0))
			return true;
	}
	return false;
}

/* Did the waiter test its condition after the signal? Then the signal was not lost. */
static bool signals_has_tested(
	const struct finding_source *source, const struct signal_history *history)
{
	if (history->lock == NO_EVENT)
		return false;
	if (history->lock > history->signal && (signals_has_predicate(history->blocked) ||
						       signals_has_read_change(source, history)))
		return true;
	return signals_has_released(source, history);
}

static void signals_classify(const struct signal_wakes *wakes, struct signal_history *out)
{
	const struct finding_source *source = wakes->source;
	const struct signal_wake *woken;

	out->loss = SIGNAL_BEHIND_TEST;
	if (signals_find_behind_test(source, wakes->edge, out)) {
		out->waiting = signals_count_waiting(wakes, out->signal);
		out->unreceived = signals_count_unreceived(wakes, out->lock, out->wait);
		return;
	}
	out->signal = signals_last(source, wakes->edge, 0, source->event_count);
	if (out->signal == NO_EVENT) {
		out->loss = SIGNAL_NEVER_SENT;
		return;
	}
	out->waiting = signals_count_waiting(wakes, out->signal);
	woken = signals_woken_by(wakes, out->signal);
	out->woken = woken ? woken->wait : NO_EVENT;
	out->again = woken ? signals_waits_again(wakes, woken) : NO_EVENT;
	signals_find_change(source, out);
	if (out->signal > out->wait)
		out->loss = out->again != NO_EVENT ? SIGNAL_WOKE_WRONG : SIGNAL_SERVED_OTHERS;
	else if ((woken && source->events[out->signal].kind == OP_COND_SIGNAL) ||
		 signals_has_tested(source, out))
		out->loss = SIGNAL_SERVED_OTHERS;
	else
		out->loss = SIGNAL_BEFORE_WAIT;
	if (out->loss == SIGNAL_BEFORE_WAIT)
		out->unreceived = signals_count_unreceived(wakes, 0, out->wait);
}

bool signal_history_find(const struct finding_source *source, const struct wait_edge *edge,
	const struct finding_wait *blocked, struct signal_history *out)
{
	struct signal_wakes wakes;

	*out = (struct signal_history){.edge = edge,
		.blocked = blocked,
		.wait = NO_EVENT,
		.lock = NO_EVENT,
		.signal = NO_EVENT,
		.woken = NO_EVENT,
		.again = NO_EVENT,
		.test = NO_EVENT,
		.change = NO_EVENT,
		.late = NO_EVENT};
	for (uint64_t i = 0; i < source->event_count; i++)
		if (source->events[i].thread == edge->waiter.index &&
			signals_is_wait(&source->events[i], edge->object_address))
			out->wait = i;
	if (out->wait == NO_EVENT)
		return false;
	out->lock = signals_lock_of_wait(source, out->wait);
	signals_fill(&wakes, source, edge);
	signals_classify(&wakes, out);
	if (out->loss != SIGNAL_BEHIND_TEST || out->change == NO_EVENT)
		out->late = signal_history_late_change(source, out);
	if (out->late != NO_EVENT)
		out->loss = SIGNAL_BEFORE_CHANGE;
	free(wakes.waits);
	return true;
}
