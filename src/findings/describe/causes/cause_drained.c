/*
 * Writes in sentences that a thread reads a wake-up away: another thread writes to an event descriptor
 * after the reader has looked at the shared state, and the read takes this write together with the
 * one that woke the reader. The sentences are facts of the trace.
 */
#include <string.h>

#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* Steps of a run in their order: the reader wakes, looks at the state and reads the descriptor. */
struct drained {
	uint64_t look, write, read;
};

/* Returns the last event before `end` at which the thread (`is_other`: another one) performs the
 * op on the descriptor; `number` 0: on any. NO_EVENT: there is none. */
static uint64_t cause_drained_last(const struct finding_source *source, uint64_t end,
	enum op_kind kind, uint16_t thread, bool is_other, uint16_t number)
{
	while (end-- > 0) {
		const struct trace_event *event = &source->events[end];

		if (event->kind == kind && (event->thread != thread) == is_other &&
			(!number || event->number == number))
			return end;
	}
	return NO_EVENT;
}

static bool cause_drained_is_look(const struct trace_event *event)
{
	return op_descriptions[event->kind].flags & OP_RELEASE || builder_is_access(event);
}

/* Returns whether the thread locks something after the event: it may then have seen all changes. */
static bool cause_drained_looks_again(
	const struct finding_source *source, uint64_t event, uint16_t thread)
{
	while (++event < source->event_count)
		if (source->events[event].thread == thread &&
			op_descriptions[source->events[event].kind].flags & OP_ACQUIRE)
			return true;
	return false;
}

static bool cause_drained_find(
	const struct finding_source *source, uint16_t reader, struct drained *drained)
{
	const uint64_t read =
		cause_drained_last(source, source->event_count, OP_FD_READ, reader, false, 0);
	uint64_t wake, write, look;
	uint16_t number;

	if (read == NO_EVENT)
		return false;
	number = source->events[read].number;
	wake = cause_drained_last(source, read, OP_FD_POLL, reader, false, 0);
	write = cause_drained_last(source, source->event_count, OP_FD_WRITE, reader, true, number);
	if (wake == NO_EVENT || write == NO_EVENT || write < wake || write > read ||
		cause_drained_looks_again(source, read, reader))
		return false;
	for (look = write; look > wake; look--)
		if (source->events[look].thread == reader &&
			cause_drained_is_look(&source->events[look]))
			break;
	*drained = (struct drained){look, write, read};
	return look > wake;
}

static void cause_drained_add(const struct builder *builder, const struct drained *drained,
	const char *descriptor, struct strbuf *cause, struct strbuf *remedy)
{
	const struct trace_event *events = builder->source->events;
	const struct trace_event *look = &events[drained->look], *read = &events[drained->read];
	FREE_SCOPED char *seen = builder_event_object(builder, look);

	builder_add_sentence(builder, cause,
		"{actor} {text} {object} at {step}\n"
		"{actor} writes to {object} at {step} after that\n"
		"{actor} reads from it at {step}, which takes this write as well, and no other write follows\n",
		look, op_descriptions[look->kind].verb, seen, &events[drained->write], descriptor,
		read);
	builder_add_sentence(builder, remedy,
		"read from {text} at {location} before {location}: then a later write ends the next wait",
		descriptor, read, look);
}

bool builder_drained_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_source *source = builder->source;

	for (uint32_t i = 0; i < source->outcome->wait_count; i++) {
		const struct wait_edge *edge = &source->outcome->waits[i];
		struct drained drained;
		FREE_SCOPED char *descriptor = NULL;
		bool is_event;

		if ((edge->op != OP_FD_POLL && edge->op != OP_FD_READ) || edge->is_in_child ||
			!cause_drained_find(source, edge->waiter.index, &drained))
			continue;
		descriptor = builder_event_object(builder, &source->events[drained.read]);
		/* A read of any other descriptor takes bytes, each of which says something. */
		is_event = descriptor && !strncmp(descriptor, "eventfd ", 8);
		if (is_event)
			cause_drained_add(builder, &drained, descriptor, cause, remedy);
		if (is_event)
			return true;
	}
	return false;
}
