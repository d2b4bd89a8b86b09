/*
 * Writes in sentences which promise was destroyed without a value, where a thread gets std::future_error: Broken
 * promise. A packaged task that no thread has run contains such a promise.
 */
#include <string.h>

#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

static bool broken_promise_is_in(
	const struct builder *builder, uint64_t site, enum code_location location)
{
	static const char method[] = "_M_break_promise"; /* of libstdc++ */
	struct symbols_frame frames[SITE_FRAMES_MAX];
	const unsigned count = builder_frames_at(builder, site, location, frames);

	for (unsigned i = 0; i < count; i++)
		if (frames[i].function && strstr(frames[i].function, method))
			return true;
	return false;
}

/* Returns whether the event changes the state of a promise that is destroyed without a value. */
static bool broken_promise_breaks(const struct builder *builder, const struct trace_event *event)
{
	if (!builder_is_write(event))
		return false;
	if (broken_promise_is_in(builder, event->site, LOCATION_OF_ACCESS))
		return true;
	for (unsigned i = 0; i < TRACE_CALLERS && event->callers[i]; i++)
		if (broken_promise_is_in(builder, event->callers[i], LOCATION_OF_CALL))
			return true;
	return false;
}

/* Returns the first event from `from` on at the address, of the thread unless it is NULL, or NO_EVENT if there is none. */
static uint64_t broken_promise_first(const struct finding_source *source, uint64_t from,
	uint64_t address, const struct thread_id *thread)
{
	for (uint64_t i = from; i < source->event_count; i++)
		if (source->events[i].address == address &&
			(!thread || source->events[i].thread == thread->index))
			return i;
	return NO_EVENT;
}

bool builder_broken_promise_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_source *source = builder->source;
	const struct trace_event *events = source->events;

	for (uint64_t i = source->event_count; i-- > 0;) {
		const struct trace_event *broken = &events[i];
		uint64_t made, used;

		if (broken->kind < OP_LOAD || !broken_promise_breaks(builder, broken))
			continue;
		used = broken_promise_first(
			source, i + 1, broken->address, &source->outcome->thread);
		if (used == NO_EVENT)
			continue;
		made = broken_promise_first(source, 0, broken->address, NULL);
		if (made < i)
			builder_add_sentence(builder, cause,
				"{actor} makes the promise at {step}\n", &events[made]);
		builder_add_sentence(builder, cause,
			"{actor} destroys the promise at {step}, before a thread has given it a value\n"
			"{actor} reads its future at {step}\n",
			broken, &events[used]);
		builder_add_sentence(builder, remedy,
			"give the promise a value or an exception, or run its task, on all paths that lead to {location}",
			broken);
		return true;
	}
	return false;
}
