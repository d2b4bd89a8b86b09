/*
 * Writes in sentences why nothing ends a thread's wait for a descriptor: the thread has read the last write before it
 * waited, or another thread ran meanwhile and wrote nothing. The sentences are facts of the trace.
 */
#include <string.h>

#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* Returns whether the wait is one for a descriptor in this process. */
static bool unwoken_is_wait(const struct wait_edge *edge)
{
	return (edge->op == OP_FD_POLL || edge->op == OP_FD_READ) && !edge->is_in_child;
}

/* Returns the index of the wait for a descriptor. Returns the number of waits if there is none, or if another thread waits
 * for anything but the end of a thread: that thread might have written otherwise. */
static uint32_t unwoken_find_wait(const struct outcome *outcome)
{
	uint32_t found = outcome->wait_count;

	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		const struct wait_edge *edge = &outcome->waits[i];

		if (edge->op == OP_THREAD_JOIN)
			continue;
		if (found < outcome->wait_count || !unwoken_is_wait(edge))
			return outcome->wait_count;
		found = i;
	}
	return found;
}

/* Returns the thread's last event of this kind before `end`; NO_EVENT if there is none. OP_NONE: of any kind. */
static uint64_t unwoken_last_of(
	const struct finding_source *source, uint64_t end, uint16_t thread, enum op_kind kind)
{
	while (end-- > 0)
		if (source->events[end].thread == thread &&
			(kind == OP_NONE || source->events[end].kind == kind))
			return end;
	return NO_EVENT;
}

/* Returns the last write of another thread to the descriptor of the event; NO_EVENT if there is none. */
static uint64_t unwoken_last_write(
	const struct finding_source *source, const struct trace_event *read)
{
	for (uint64_t i = source->event_count; i-- > 0;) {
		const struct trace_event *event = &source->events[i];

		if (event->kind == OP_FD_WRITE && event->thread != read->thread &&
			event->number == read->number)
			return i;
	}
	return NO_EVENT;
}

/* An event descriptor only wakes its reader. A read of any other descriptor takes bytes, each of which says
 * something. */
static bool unwoken_add_read(const struct builder *builder, const struct wait_edge *edge,
	const struct finding_wait *wait, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_source *source = builder->source;
	const uint64_t read =
		unwoken_last_of(source, source->event_count, edge->waiter.index, OP_FD_READ);
	const struct trace_event *events = source->events;
	FREE_SCOPED char *descriptor = NULL;
	uint64_t write;

	if (read == NO_EVENT)
		return false;
	descriptor = builder_event_object(builder, &events[read]);
	write = unwoken_last_write(source, &events[read]);
	if (!descriptor || strncmp(descriptor, "eventfd ", 8) || write == NO_EVENT || write > read)
		return false;
	builder_add_sentence(builder, cause,
		"{actor} writes to {object} at {step}\n"
		"{actor} reads from it at {step} after that, which takes this write\n"
		"{text} then waits at {stack}, and no other write follows\n",
		&events[write], descriptor, &events[read], wait->thread, &wait->at);
	builder_add_sentence(builder, remedy,
		"keep what {thread} changes before it writes at {location} until {text} has tested it: a write that has been read does not end the next wait",
		(struct thread_id){events[write].thread}, &events[write], wait->thread);
	return true;
}

/* Returns the event with which the last thread ended that ran during the wait. NO_EVENT: there is none, or a thread
 * wrote to a descriptor or closed one during the wait. */
static uint64_t unwoken_find_end(const struct finding_source *source, uint16_t waiter)
{
	const uint64_t last = unwoken_last_of(source, source->event_count, waiter, OP_NONE);
	uint64_t end = NO_EVENT;

	/* The waiter announces its wait before any later event. */
	for (uint64_t i = last; last != NO_EVENT && ++i < source->event_count;) {
		const enum op_kind kind = source->events[i].kind;

		if (kind == OP_FD_WRITE || kind == OP_FD_CLOSE)
			return NO_EVENT;
		if (kind == OP_THREAD_EXIT)
			end = i;
	}
	return end;
}

static bool unwoken_add_end(const struct builder *builder, const struct wait_edge *edge,
	const struct finding_wait *wait, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_source *source = builder->source;
	const uint64_t end = unwoken_find_end(source, edge->waiter.index);
	const char *ended;

	if (end == NO_EVENT)
		return false;
	ended = builder_thread(builder, (struct thread_id){source->events[end].thread});
	builder_add_sentence(builder, cause, "{text} waits at {stack}\n", wait->thread, &wait->at);
	builder_mark_cause(builder, end, cause);
	builder_add_sentence(builder, cause,
		"{text} runs during this wait, and ends without writing to a descriptor\n", ended);
	builder_add_sentence(builder, remedy,
		"if {text} changes what {text} waits for, let {text} write after the change to a descriptor that {text} polls, such as an eventfd",
		ended, wait->thread, ended, wait->thread);
	return true;
}

bool builder_unwoken_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct outcome *outcome = builder->source->outcome;
	const uint32_t found = unwoken_find_wait(outcome);
	const struct finding_wait *wait = &builder->finding->waits[found];

	if (found == outcome->wait_count)
		return false;
	return unwoken_add_read(builder, &outcome->waits[found], wait, cause, remedy) ||
	       unwoken_add_end(builder, &outcome->waits[found], wait, cause, remedy);
}
