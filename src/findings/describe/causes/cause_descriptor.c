/*
 * Writes in sentences that a thread uses a descriptor which another thread has closed. Its number may belong
 * to another file by then. The sentences are facts of the trace: the thread performs no operation between
 * the close and its use, so nothing can have given it the number anew.
 */
#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* Returns the number of the event's file descriptor; -1 if the event has none. */
static int cause_descriptor_of(const struct trace_event *event)
{
	const bool has_one = op_descriptions[event->kind].object == OBJECT_FD ||
			     event->kind == OP_FILE_CHANGE || event->kind == OP_FILE_CHECK;

	return has_one ? descriptor_of(event->number) : -1;
}

/* Returns the index of the thread's next operation that is neither its first step nor an access to memory;
 * the number of events if no such operation follows. */
static uint64_t cause_descriptor_next(
	const struct finding_source *source, uint64_t event, uint16_t thread)
{
	while (event < source->event_count &&
		(source->events[event].thread != thread ||
			source->events[event].kind == OP_THREAD_BEGIN ||
			op_descriptions[source->events[event].kind].object == OBJECT_MEMORY))
		event++;
	return event;
}

bool builder_thread_exists(const struct finding_source *source, uint64_t event, uint16_t thread)
{
	uint32_t created = 0;

	for (uint64_t i = 0; i < event; i++)
		created += source->events[i].kind == OP_THREAD_CREATE &&
			   source->events[i].thread == source->threads[thread].parent.index;
	return !thread || created > source->threads[thread].ordinal;
}

/* Returns the use of the closed descriptor by another thread, or NO_EVENT if there is none. */
static uint64_t cause_descriptor_find_use(const struct finding_source *source, uint64_t close)
{
	const struct trace_event *closing = &source->events[close];

	for (uint16_t thread = 0; thread < source->thread_count; thread++) {
		const uint64_t use = cause_descriptor_next(source, close, thread);

		if (thread != closing->thread && use < source->event_count &&
			cause_descriptor_of(&source->events[use]) == cause_descriptor_of(closing) &&
			builder_thread_exists(source, close, thread))
			return use;
	}
	return NO_EVENT;
}

static bool cause_descriptor_is_close(const struct trace_event *event)
{
	return event->kind == OP_FD_CLOSE ||
	       (event->kind == OP_FILE_CHANGE && event->call == CALL_CLOSE_FILE);
}

static void cause_descriptor_add_close(
	const struct builder *builder, const struct trace_event *event, struct strbuf *cause)
{
	FREE_SCOPED char *object = builder_event_object(builder, event);
	STRBUF_SCOPED name = STRBUF_EMPTY;

	strbuf_addf(&name, "file %d", cause_descriptor_of(event));
	builder_add_sentence(builder, cause, "{actor} closes {object} at {step}\n", event,
		object ? object : name.text);
}

bool builder_descriptor_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_source *source = builder->source;

	for (uint64_t close = source->event_count; close-- > 0;) {
		const struct trace_event *event = &source->events[close];
		uint64_t use;

		if (!cause_descriptor_is_close(event) || cause_descriptor_of(event) < 0)
			continue;
		use = cause_descriptor_find_use(source, close);
		if (use == NO_EVENT)
			continue;
		cause_descriptor_add_close(builder, event, cause);
		builder_add_sentence(builder, cause,
			"{actor} uses its number at {step} after that, when it is closed or belongs to another file\n",
			&source->events[use]);
		strbuf_addf(remedy,
			"close descriptor %d when %s has ended or cannot use it any more",
			cause_descriptor_of(event),
			builder_thread(builder, (struct thread_id){source->events[use].thread}));
		return true;
	}
	return false;
}
