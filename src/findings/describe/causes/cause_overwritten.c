/*
 * Writes in sentences that a value was lost before any thread read it: a thread that polls a variable for
 * ever would have ended if it had seen the value. The sentences are facts of the trace.
 */
#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* The polling thread's reads are among its last events. */
#define EVENTS_EXAMINED 64

/* The last write of another thread that was overwritten unread, as indices into the trace. */
struct overwritten {
	uint64_t write, overwrite;
};

/* Finds it among the accesses of the variable that the event reads. Returns false if there is none, or if
 * another write follows. */
static bool cause_overwritten_find(
	const struct finding_source *source, uint64_t read, struct overwritten *found)
{
	const uint64_t address = source->events[read].address;
	uint64_t write = NO_EVENT;
	bool is_read = false;

	*found = (struct overwritten){NO_EVENT, NO_EVENT};
	for (uint64_t i = 0; i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i];

		if (event->address != address || !builder_is_access(event))
			continue;
		if (!builder_is_store(event)) {
			is_read |=
				write != NO_EVENT && event->thread != source->events[write].thread;
			continue;
		}
		found->overwrite = NO_EVENT;
		if (write != NO_EVENT && !is_read && event->thread != source->events[write].thread)
			*found = (struct overwritten){write, i};
		write = i;
		is_read = false;
	}
	return found->overwrite != NO_EVENT;
}

bool builder_overwritten_cause(const struct builder *builder, struct strbuf *cause)
{
	const struct finding_source *source = builder->source;
	unsigned examined = 0;

	for (uint64_t i = source->event_count; i-- > 0 && examined < EVENTS_EXAMINED;) {
		const struct trace_event *event = &source->events[i];
		struct overwritten found;
		FREE_SCOPED char *object = NULL;

		if (event->thread != source->outcome->thread.index)
			continue;
		examined++;
		if (!event->address || !builder_is_read(event) ||
			!cause_overwritten_find(source, i, &found))
			continue;
		object = builder_event_object(builder, event);
		builder_add_sentence(builder, cause,
			"{actor} writes {object} at {step}\n"
			"{actor} overwrites it at {step} before any other thread has read it\n"
			"{actor} polls it at {step} for ever\n",
			&source->events[found.write], object, &source->events[found.overwrite],
			event);
		return true;
	}
	return false;
}
