/*
 * Writes in sentences where the value came from at which an assertion fails or a thread crashes: the
 * last accesses to the memory that the failing line reads. The sentences are facts of the trace; that
 * another order of these accesses passes is shown by `raddle explain` alone.
 */
#include <string.h>

#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* The failing line's reads are among the last events of the failing thread. */
#define EVENTS_EXAMINED 64
/* The first page is never mapped. */
#define PAGE_BYTES 4096

bool builder_is_read(const struct trace_event *event)
{
	return event->kind == OP_LOAD || event->kind == OP_ATOMIC_LOAD;
}

bool builder_is_store(const struct trace_event *event)
{
	return event->kind == OP_STORE || event->kind == OP_ATOMIC_STORE;
}

bool builder_is_write(const struct trace_event *event)
{
	return builder_is_store(event) || event->kind == OP_ATOMIC_UPDATE;
}

bool builder_is_access(const struct trace_event *event)
{
	return event->address && (builder_is_read(event) || builder_is_write(event));
}

/* Accesses of one variable, as indices into the trace, in their order, or NO_EVENT if there is none. */
struct value_story {
	uint64_t earlier; /* a read that another thread's write follows */
	uint64_t other;	  /* that write */
	uint64_t later;	  /* a store of the first thread, which has not read the other's value */
	uint64_t last;	  /* the read of the failing line */
};

/* Reads and writes of one thread while the trace is examined. */
struct value_reader {
	uint64_t read, foreign;
};

bool builder_find_lost_update(
	const struct builder *builder, uint64_t address, uint64_t end, struct lost_update *out)
{
	const struct finding_source *source = builder->source;
	FREE_SCOPED struct value_reader *readers =
		array_new(source->thread_count + 1u, sizeof *readers);
	bool is_found = false;

	for (uint32_t i = 0; i < source->thread_count; i++)
		readers[i] = (struct value_reader){NO_EVENT, NO_EVENT};
	for (uint64_t i = 0; i < end; i++) {
		const struct trace_event *event = &source->events[i];
		struct value_reader *own = &readers[event->thread];

		if (event->address != address)
			continue;
		if (builder_is_read(event))
			*own = (struct value_reader){i, NO_EVENT};
		if (!builder_is_write(event))
			continue;
		if (builder_is_store(event) && own->foreign != NO_EVENT) {
			*out = (struct lost_update){own->read, own->foreign, i};
			is_found = true;
		}
		for (uint32_t thread = 0; thread < source->thread_count; thread++)
			if (readers[thread].read != NO_EVENT)
				readers[thread].foreign = i;
		*own = (struct value_reader){NO_EVENT, NO_EVENT};
	}
	return is_found;
}

static void cause_values_find_lost(const struct builder *builder, struct value_story *story)
{
	struct lost_update lost;

	if (!builder_find_lost_update(
		    builder, builder->source->events[story->last].address, story->last, &lost))
		return;
	story->earlier = lost.read;
	story->other = lost.foreign;
	story->later = lost.store;
}

/* Returns whether every run reads the value: after its write the failing thread joins the other one, or
 * the other one creates the failing thread or an ancestor of it. */
static bool cause_values_is_ordered(const struct builder *builder, const struct value_story *story)
{
	const struct finding_source *source = builder->source;
	const struct trace_event *events = source->events;
	const uint16_t reader = events[story->last].thread, writer = events[story->other].thread;

	for (uint64_t i = story->other; i < story->last; i++)
		if (events[i].kind == OP_THREAD_JOIN && events[i].thread == reader &&
			events[i].other == writer + 1)
			return true;
	for (uint16_t thread = reader; thread; thread = source->threads[thread].parent.index)
		if (source->threads[thread].parent.index == writer &&
			!builder_thread_exists(source, story->other, thread))
			return true;
	return false;
}

/* Finds the last write before `last`, if another thread made it, and an earlier read of the failing thread. */
static void cause_values_find_changed(const struct builder *builder, struct value_story *story)
{
	const struct trace_event *events = builder->source->events;
	const struct trace_event *last = &events[story->last];

	for (uint64_t i = story->last; i-- > 0;) {
		if (events[i].address != last->address)
			continue;
		if (story->other == NO_EVENT && builder_is_write(&events[i])) {
			if (events[i].thread == last->thread)
				return;
			story->other = i;
		} else if (story->other != NO_EVENT && events[i].thread == last->thread) {
			/* the same line again is another turn of a loop */
			if (builder_is_read(&events[i]) && events[i].site != last->site)
				story->earlier = i;
			return;
		}
	}
}

/* The failure in words, behind the name of the thread and behind a read of the thread. */
struct end_words {
	const char *thread, *read;
};

static struct end_words cause_values_end(const struct finding *finding)
{
	if (finding->kind == OUTCOME_CRASH)
		return (struct end_words){"crashes", "it crashes"};
	if (strcasestr(finding->title, "assertion"))
		return (struct end_words){"fails its assertion", "the assertion fails"};
	return (struct end_words){"aborts", "it aborts"};
}

void builder_add_end(const struct builder *builder, struct strbuf *cause)
{
	const struct finding *finding = builder->finding;

	strbuf_addf(cause, "%s %s", finding->failing_thread, cause_values_end(finding).thread);
	if (finding_user_frame(&finding->at))
		builder_add_sentence(builder, cause, " at {stack}", &finding->at);
}

/* Adds where the failure follows: ", and the assertion fails at x.c:31"; on the read's line ", where it fails". */
static void cause_values_add_end(
	const struct builder *builder, const struct trace_event *read, struct strbuf *cause)
{
	const char *end = cause_values_end(builder->finding).read;
	STRBUF_SCOPED location = STRBUF_EMPTY, failing = STRBUF_EMPTY;

	builder_add_event_location(builder, read, &location);
	frame_location(finding_user_frame(&builder->finding->at), &failing);
	if (!strcmp(location.text, failing.text))
		strbuf_addf(cause, ", where %s\n", end);
	else
		strbuf_addf(cause, ", and %s at %s\n", end, failing.text);
}

static void cause_values_add_story(
	const struct builder *builder, const struct value_story *story, struct strbuf *cause)
{
	const struct trace_event *events = builder->source->events;
	FREE_SCOPED char *object = builder_event_object(builder, &events[story->last]);
	const struct trace_event *other = &events[story->other];

	if (story->earlier != NO_EVENT)
		builder_add_sentence(builder, cause, "{actor} reads {object} at {step}\n",
			&events[story->earlier], object);
	builder_add_sentence(builder, cause, "{actor} writes {object} at {step}\n", other,
		story->earlier == NO_EVENT ? object : NULL);
	if (story->later != NO_EVENT)
		builder_add_sentence(builder, cause,
			"{actor} overwrites it at {step} without having read what {actor} wrote\n",
			&events[story->later], other);
	builder_add_sentence(builder, cause,
		story->earlier != NO_EVENT && story->later == NO_EVENT
			? "{actor} again reads it at {step}"
			: "{actor} reads it at {step}",
		&events[story->last]);
	cause_values_add_end(builder, &events[story->last], cause);
}

/* Has the failing thread written the variable after the read? The read is then part of an update, such
 * as that of a counter, and its value is not the one that fails. */
static bool cause_values_is_update(const struct builder *builder, uint64_t read)
{
	const struct trace_event *events = builder->source->events;

	for (uint64_t i = read + 1; i < builder->source->event_count; i++)
		if (events[i].address == events[read].address &&
			events[i].thread == events[read].thread && builder_is_write(&events[i]))
			return true;
	return false;
}

/* Finds the write of another thread that explains the value of the read. Returns false if there is none. */
static bool cause_values_find(const struct builder *builder, struct value_story *story)
{
	cause_values_find_lost(builder, story);
	if (story->later == NO_EVENT)
		cause_values_find_changed(builder, story);
	return story->other != NO_EVENT &&
	       (story->later != NO_EVENT || !cause_values_is_ordered(builder, story));
}

/* Returns whether both threads held one lock: the value then arrives as the program intends. */
static bool cause_values_is_guarded(const struct builder *builder, const struct value_story *story)
{
	const struct trace_event *events = builder->source->events;
	const struct trace_event *write = &events[story->other], *read = &events[story->last];

	for (uint64_t i = story->last; i-- > 0;)
		if (events[i].thread == read->thread &&
			op_descriptions[events[i].kind].flags & OP_ACQUIRE &&
			builder_holds(builder, (struct thread_id){read->thread}, events[i].address,
				read->step) &&
			builder_holds(builder, (struct thread_id){write->thread}, events[i].address,
				write->step))
			return true;
	return false;
}

static bool cause_values_describe(
	const struct builder *builder, uint64_t read, struct strbuf *cause)
{
	struct value_story story = {NO_EVENT, NO_EVENT, NO_EVENT, read};

	if (!cause_values_find(builder, &story))
		return false;
	cause_values_add_story(builder, &story, cause);
	return true;
}

/* A minimal schedule needs its preemptions: a thread that is preempted for good explains the failure, so
 * another thread's write does not. */
static bool cause_values_is_of_stopped(
	const struct builder *builder, const struct value_story *story)
{
	const uint64_t stopped = builder_find_stopped(builder);
	const struct trace_event *events = builder->source->events;

	return stopped == NO_EVENT || events[stopped].thread == events[story->other].thread;
}

/* Describes the read if no lock guards the value, and no other thread than its writer is preempted for
 * good. */
static bool cause_values_describe_unguarded(
	const struct builder *builder, uint64_t read, struct strbuf *cause)
{
	struct value_story story = {NO_EVENT, NO_EVENT, NO_EVENT, read};

	return cause_values_find(builder, &story) && !cause_values_is_guarded(builder, &story) &&
	       cause_values_is_of_stopped(builder, &story) &&
	       cause_values_describe(builder, read, cause);
}

/* Describes the read if the other thread's write lies between two accesses of one thread. */
static bool cause_values_describe_between(
	const struct builder *builder, uint64_t read, struct strbuf *cause)
{
	struct value_story story = {NO_EVENT, NO_EVENT, NO_EVENT, read};

	if (!cause_values_find(builder, &story) || story.earlier == NO_EVENT)
		return false;
	cause_values_add_story(builder, &story, cause);
	return true;
}

/* Describes a read of memory that nothing has written since the first thread was created. */
static bool cause_values_describe_unwritten(
	const struct builder *builder, uint64_t read, struct strbuf *cause)
{
	const struct trace_event *events = builder->source->events;
	FREE_SCOPED char *object = NULL;

	if (builder->source->events_from || builder->source->events_dropped)
		return false;
	for (uint64_t i = 0; i < read; i++)
		if (events[i].address == events[read].address && builder_is_write(&events[i]))
			return false;
	object = builder_event_object(builder, &events[read]);
	builder_add_sentence(builder, cause,
		"{actor} reads {object} at {step}, which nothing has written since the first thread was created",
		&events[read], object);
	cause_values_add_end(builder, &events[read], cause);
	return true;
}

/* Returns whether the event is an access by the failing function, or by a function inlined into it. Such a function may
 * keep the value that it read in a local variable until the failing line uses it. */
static bool cause_values_is_in_function(const struct builder *builder,
	const struct trace_event *event, const struct finding_frame *at)
{
	struct symbols_frame frames[SITE_FRAMES_MAX];
	const unsigned count = builder_frames_at(builder, event->site, LOCATION_OF_ACCESS, frames);
	struct finding_frame frame = builder_event_frame(builder, event);
	bool is_in = frame.function && at->function && !strcmp(frame.function, at->function);

	for (unsigned i = 0; i < count && at->function && !is_in; i++)
		is_in = frames[i].function && !strcmp(frames[i].function, at->function);
	finding_frame_release(&frame);
	return is_in;
}

/* Describes the last read of the failing thread at the failing line or, if not `is_at_line`, in its
 * function. Returns whether another thread's write explains the value. */
static bool cause_values_search(const struct builder *builder, bool is_at_line,
	bool (*describe)(const struct builder *, uint64_t, struct strbuf *), struct strbuf *cause)
{
	const struct finding_source *source = builder->source;
	const struct finding_frame *at = finding_user_frame(&builder->finding->at);
	unsigned examined = 0;

	for (uint64_t i = source->event_count; at && i-- > 0 && examined < EVENTS_EXAMINED;) {
		const struct trace_event *event = &source->events[i];
		bool is_near;

		if (event->thread != source->outcome->thread.index)
			continue;
		examined++;
		if (!builder_is_read(event) || !event->address ||
			cause_values_is_update(builder, i))
			continue;
		is_near = is_at_line ? builder_event_passes(builder, event, at)
				     : cause_values_is_in_function(builder, event, at);
		if (is_near && describe(builder, i, cause))
			return true;
	}
	return false;
}

bool builder_values_between_cause(const struct builder *builder, struct strbuf *cause)
{
	return cause_values_search(builder, true, cause_values_describe_between, cause) ||
	       cause_values_search(builder, false, cause_values_describe_between, cause);
}

bool builder_values_cause(const struct builder *builder, bool is_guarded, struct strbuf *cause)
{
	bool (*describe)(const struct builder *, uint64_t, struct strbuf *) =
		is_guarded ? cause_values_describe : cause_values_describe_unguarded;

	/* First, the values that the failing line itself reads are searched. Values that the failing thread read in earlier
	 * lines follow only if no thread is preempted for the rest of the run: the work that such a thread has not
	 * finished explains the failure better. */
	return cause_values_search(builder, true, describe, cause) ||
	       (builder_find_stopped(builder) == NO_EVENT &&
		       cause_values_search(builder, false, describe, cause));
}

bool builder_unwritten_cause(const struct builder *builder, struct strbuf *cause)
{
	/* A null pointer may have been copied before the failing line. */
	const bool is_null = builder->finding->kind == OUTCOME_CRASH &&
			     builder->source->outcome->address < PAGE_BYTES;

	return cause_values_search(builder, true, cause_values_describe_unwritten, cause) ||
	       (is_null &&
		       cause_values_search(builder, false, cause_values_describe_unwritten, cause));
}
