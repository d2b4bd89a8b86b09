/*
 * Writes in sentences why a thread still waits for an atomic variable or a class that is built from one:
 * the variable has changed since without a wake-up, or the wake-up was for another thread. The
 * sentences are facts of the trace.
 */
#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* Returns the first event behind `event` of other threads than the waiter at the address that `is_wanted` accepts;
 * NO_EVENT: there is none. */
static uint64_t cause_futex_next(const struct finding_source *source, uint64_t event,
	struct thread_id waiter, uint64_t address,
	bool (*is_wanted)(const struct trace_event *event))
{
	while (++event < source->event_count) {
		const struct trace_event *next = &source->events[event];

		if (next->address == address && next->thread != waiter.index && is_wanted(next))
			return event;
	}
	return NO_EVENT;
}

static bool cause_futex_is_wake(const struct trace_event *event)
{
	return event->kind == OP_FUTEX_WAKE;
}

/* A woken thread performs the second half of its wait. */
static bool cause_futex_is_woken(const struct trace_event *event)
{
	return event->kind == OP_FUTEX_BLOCK;
}

static uint64_t cause_futex_find_beginning(
	const struct finding_source *source, const struct wait_edge *edge)
{
	for (uint64_t i = source->event_count; i-- > 0;)
		if (source->events[i].kind == OP_FUTEX_WAIT &&
			source->events[i].thread == edge->waiter.index)
			return source->events[i].address == edge->object_address ? i : NO_EVENT;
	return NO_EVENT;
}

/* Adds what prevents a change without a wake-up: code that notifies before the change, or a fault of libstdc++. */
static void cause_futex_add_remedy(const struct builder *builder, const char *object,
	const struct trace_event *change, struct strbuf *remedy)
{
	if (!strncmp(object, "atomic ", 7))
		builder_add_sentence(builder, remedy,
			"call notify_one or notify_all after the change at {location}, not before",
			change);
	else if (!strncmp(object, "counting_semaphore ", 19))
		strbuf_adds(remedy,
			"release the semaphore once for each acquire; if the program does, libstdc++ of GCC 12 has lost the wake-up: compile with -D_GLIBCXX_USE_POSIX_SEMAPHORE");
}

static bool cause_futex_add(const struct builder *builder, const struct wait_edge *edge,
	struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_source *source = builder->source;
	const uint64_t begin = cause_futex_find_beginning(source, edge);
	const uint64_t word = edge->object_address;
	const struct trace_event *read = builder_awaited_read(builder, word);
	uint64_t wake, woken, change;
	FREE_SCOPED char *object = NULL;

	if (begin == NO_EVENT)
		return false;
	wake = cause_futex_next(source, begin, edge->waiter, word, cause_futex_is_wake);
	woken = wake == NO_EVENT
			? NO_EVENT
			: cause_futex_next(source, wake, edge->waiter, word, cause_futex_is_woken);
	change = cause_futex_next(
		source, begin, edge->waiter, read ? read->address : word, builder_is_write);
	if (wake == NO_EVENT ? change == NO_EVENT : woken == NO_EVENT)
		return false;
	object = builder_event_object(builder, &source->events[begin]);
	builder_add_sentence(builder, cause, "{actor} began to wait for {object} at {step}\n",
		&source->events[begin], object);
	if (wake == NO_EVENT) {
		builder_add_sentence(builder, cause,
			"{actor} changed it at {step} after that, and no thread woke it\n",
			&source->events[change]);
		cause_futex_add_remedy(builder, object, &source->events[change], remedy);
	} else {
		builder_add_sentence(builder, cause,
			"{actor} woke one waiter of it at {step} after that: {actor}; no wake-up was left for {thread}\n",
			&source->events[wake], &source->events[woken], edge->waiter);
		builder_add_sentence(builder, remedy, "wake all waiters (notify_all) at {location}",
			&source->events[wake]);
	}
	return true;
}

bool builder_futex_cause(const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct outcome *outcome = builder->source->outcome;

	for (uint32_t i = 0; i < outcome->wait_count; i++)
		if (outcome->waits[i].op == OP_FUTEX_BLOCK && !outcome->waits[i].is_in_child &&
			cause_futex_add(builder, &outcome->waits[i], cause, remedy))
			return true;
	return false;
}
