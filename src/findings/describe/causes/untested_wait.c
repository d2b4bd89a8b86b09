/*
 * Writes in sentences that a thread does not test its condition again when its wait ends: another thread has changed
 * the condition between the signal and the waiter's lock of the mutex. The sentences are facts of the trace.
 */
#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* The events of the story, in their order, as indices into the trace. */
struct untested_wait {
	uint64_t test;	 /* the waiter reads the variable */
	uint64_t wait;	 /* it begins to wait */
	uint64_t signal; /* another thread's signal, which ends the wait */
	uint64_t change; /* a thread changes the variable */
	uint64_t locked; /* the waiter has the mutex again */
	uint64_t use; /* the waiter accesses the variable at another line than that of the test */
};

/* Returns the last wait of the thread on a condition variable that a signal has ended, or NO_EVENT if there is none. */
static bool untested_wait_find_wait(
	const struct finding_source *source, uint16_t thread, struct untested_wait *out)
{
	out->locked = NO_EVENT;
	for (uint64_t i = source->event_count; i-- > 0;) {
		const struct trace_event *event = &source->events[i];

		if (event->thread != thread)
			continue;
		out->wait = i;
		if (event->kind == OP_COND_WAIT)
			return out->locked != NO_EVENT;
		if (event->kind == OP_MUTEX_LOCK)
			out->locked = i;
		else if (!builder_is_access(event))
			out->locked = NO_EVENT;
	}
	return false;
}

static uint64_t untested_wait_find_signal(
	const struct finding_source *source, const struct untested_wait *found)
{
	const struct trace_event *wait = &source->events[found->wait];

	for (uint64_t i = found->wait + 1; i < found->locked; i++) {
		const struct trace_event *event = &source->events[i];

		if ((event->kind == OP_COND_SIGNAL || event->kind == OP_COND_BROADCAST) &&
			event->address == wait->address && event->thread != wait->thread)
			return i;
	}
	return NO_EVENT;
}

/* Returns the last read of the address by the thread in the critical section before the wait. */
static uint64_t untested_wait_find_test(
	const struct finding_source *source, const struct untested_wait *found, uint64_t address)
{
	const uint16_t thread = source->events[found->wait].thread;

	for (uint64_t i = found->wait; i-- > 0;) {
		const struct trace_event *event = &source->events[i];

		if (event->thread != thread)
			continue;
		if (builder_is_read(event) && event->address == address)
			return i;
		if (!builder_is_access(event))
			return NO_EVENT;
	}
	return NO_EVENT;
}

static bool untested_wait_is_same_line(
	const struct builder *builder, const struct trace_event *a, const struct trace_event *b)
{
	struct finding_frame first = builder_event_frame(builder, a);
	struct finding_frame second = builder_event_frame(builder, b);
	const bool is_same = builder_is_same_line(&first, &second);

	finding_frame_release(&first);
	finding_frame_release(&second);
	return is_same;
}

/* Finds the first access to the variable after the wait. Returns false if it is a second test, or there is none. */
static bool untested_wait_find_use(const struct builder *builder, struct untested_wait *found)
{
	const struct trace_event *events = builder->source->events;
	const struct trace_event *test = &events[found->test];

	for (uint64_t i = found->locked + 1; i < builder->source->event_count; i++) {
		if (events[i].thread != test->thread || events[i].address != test->address ||
			!builder_is_access(&events[i]))
			continue;
		found->use = i;
		return !untested_wait_is_same_line(builder, test, &events[i]);
	}
	return false;
}

static bool untested_wait_find(const struct builder *builder, struct untested_wait *found)
{
	const struct finding_source *source = builder->source;
	const uint16_t thread = source->outcome->thread.index;

	if (!untested_wait_find_wait(source, thread, found))
		return false;
	found->signal = untested_wait_find_signal(source, found);
	for (uint64_t i = found->locked; found->signal != NO_EVENT && i-- > found->signal;) {
		const struct trace_event *event = &source->events[i];

		if (event->thread == thread || !builder_is_write(event))
			continue;
		found->change = i;
		found->test = untested_wait_find_test(source, found, event->address);
		if (found->test != NO_EVENT && untested_wait_find_use(builder, found))
			return true;
	}
	return false;
}

bool builder_untested_wait_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct trace_event *events = builder->source->events;
	struct untested_wait found;
	FREE_SCOPED char *variable = NULL, *cond = NULL, *mutex = NULL;

	if (!untested_wait_find(builder, &found))
		return false;
	variable = builder_event_object(builder, &events[found.test]);
	cond = builder_event_object(builder, &events[found.wait]);
	mutex = builder_event_object(builder, &events[found.locked]);
	builder_add_sentence(builder, cause, "{actor} reads {object} at {step}\n",
		&events[found.test], variable);
	builder_add_sentence(
		builder, cause, "{actor} waits on {object} at {step}\n", &events[found.wait], cond);
	builder_add_sentence(builder, cause,
		events[found.signal].kind == OP_COND_BROADCAST
			? "{actor} broadcasts on it at {step}\n"
			: "{actor} signals it at {step}\n",
		&events[found.signal]);
	builder_add_sentence(builder, cause,
		"{actor} changes {object} at {step}, before {actor} has locked {object} again\n",
		&events[found.change], variable, &events[found.wait], mutex);
	builder_add_sentence(builder, cause,
		"{actor} uses {object} at {step} without a second test\n", &events[found.use],
		variable);
	builder_add_sentence(builder, remedy,
		"test {object} in a loop around the wait at {location}: `while' in place of `if'",
		variable, &events[found.wait]);
	return true;
}
