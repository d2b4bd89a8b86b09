/*
 * Writes in sentences what changed while a preempted thread was stopped. A minimal schedule fails only
 * with its preemptions, so the accesses around one of them are part of the cause. The patterns are the
 * unserialisable ones of Lu et al. ("AVIO", ASPLOS 2006): two accesses of the preempted thread and one
 * of another thread between them. Where the trace has no accesses, critical sections of one lock take
 * their location. The sentences are facts of the trace.
 */
#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* With more preemptions the schedule is hardly minimal, and each one says little. */
#define PREEMPTIONS_MOST 3
/* Accesses of the preempted thread that are examined on either side of the preemption. */
#define ACCESSES_EXAMINED 64

/* Unserialisable patterns, the most telling one first. The middle access is the other thread's. */
enum pattern {
	PATTERN_LOST,	   /* read, write, write without a further read */
	PATTERN_CLOBBERED, /* write, write, read */
	PATTERN_CHANGED,   /* read, write, read at another location */
	PATTERN_SEEN,	   /* write, read, write */
	PATTERN_REENTERED, /* unlock, lock, lock */
	PATTERN_LEFT,	   /* unlock, lock, and what follows the unlock */
	PATTERN_NONE
};

/* Events of one variable or lock around a preemption, as indices into the trace. */
struct interruption {
	uint64_t before, after; /* of the preempted thread */
	uint64_t read, written; /* the last ones in between, or NO_EVENT if there is none */
};

struct preemption {
	uint64_t begin; /* the first event of the preempting thread */
	uint64_t end;	/* the next event of the preempted thread */
	uint16_t thread;
	uint32_t count;		   /* of items */
	struct interruption early; /* `before`: the last event before the preemption */
	/* A variable that the preempted thread had read, and that the thread of early.read wrote after that. NULL if there
	 * is no such variable. */
	const struct interruption *missed;
	struct interruption items[ACCESSES_EXAMINED];
};

/* The next event of the thread from `event` on; the number of events if there is none. */
static uint64_t cause_preemption_next(
	const struct finding_source *source, uint64_t event, uint16_t thread)
{
	while (event < source->event_count && source->events[event].thread != thread)
		event++;
	return event;
}

static bool cause_preemption_releases(const struct trace_event *event)
{
	return op_descriptions[event->kind].flags & OP_RELEASE;
}

/* Tries do not count: they may fail. */
static bool cause_preemption_acquires(const struct trace_event *event)
{
	const uint8_t flags = op_descriptions[event->kind].flags;

	return flags & OP_ACQUIRE && flags & OP_MAYBLOCK;
}

static bool cause_preemption_counts(const struct trace_event *event)
{
	return builder_is_access(event) || cause_preemption_releases(event) ||
	       cause_preemption_acquires(event);
}

/* Returns whether the event may change what the variable or the lock's data hold. */
static bool cause_preemption_changes(const struct trace_event *event)
{
	return builder_is_write(event) || (cause_preemption_acquires(event) &&
						  !(op_descriptions[event->kind].flags & OP_READ));
}

static struct interruption *cause_preemption_find(
	struct preemption *preemption, const struct finding_source *source, uint64_t address)
{
	for (uint32_t i = 0; i < preemption->count; i++)
		if (source->events[preemption->items[i].before].address == address)
			return &preemption->items[i];
	return NULL;
}

/* Collects the variables that the thread accesses on both sides of the preemption. */
static void cause_preemption_collect(
	const struct finding_source *source, struct preemption *preemption)
{
	uint32_t examined = 0;

	for (uint64_t i = preemption->begin; i-- > 0 && examined < ACCESSES_EXAMINED;) {
		const struct trace_event *event = &source->events[i];

		if (event->thread != preemption->thread || !cause_preemption_counts(event))
			continue;
		examined++;
		if (!cause_preemption_find(preemption, source, event->address))
			preemption->items[preemption->count++] =
				(struct interruption){i, NO_EVENT, NO_EVENT, NO_EVENT};
	}
	examined = 0;
	for (uint64_t i = preemption->end; i < source->event_count && examined < ACCESSES_EXAMINED;
		i++) {
		const struct trace_event *event = &source->events[i];
		struct interruption *item;

		if (event->thread != preemption->thread || !cause_preemption_counts(event))
			continue;
		examined++;
		item = cause_preemption_find(preemption, source, event->address);
		if (item && item->after == NO_EVENT)
			item->after = i;
	}
	for (uint64_t i = preemption->begin; i < preemption->end; i++) {
		struct interruption *item =
			cause_preemption_find(preemption, source, source->events[i].address);

		if (!item || !cause_preemption_counts(&source->events[i]))
			continue;
		if (cause_preemption_changes(&source->events[i]))
			item->written = i;
		else
			item->read = i;
	}
}

/* Finds the last variable that the preempted thread read, and that the thread of early.read wrote before that access.
 * Each of the two threads then misses what the other one writes. */
static void cause_preemption_find_missed(
	const struct finding_source *source, struct preemption *preemption)
{
	const uint64_t read = preemption->early.read;

	for (uint32_t i = 0; i < preemption->count; i++) {
		const struct interruption *item = &preemption->items[i];

		if (item->written == NO_EVENT || item->written > read ||
			!builder_is_read(&source->events[item->before]) ||
			source->events[item->written].thread != source->events[read].thread)
			continue;
		if (!preemption->missed || item->before > preemption->missed->before)
			preemption->missed = item;
	}
}

/* Finds the first write behind the preemption whose memory the preempted thread has not accessed before,
 * and another thread has read or atomically updated in between, but has not stored to. */
static void cause_preemption_find_early(
	const struct finding_source *source, struct preemption *preemption)
{
	uint32_t examined = 0;

	for (uint64_t i = preemption->end; i < source->event_count && examined < ACCESSES_EXAMINED;
		i++) {
		const struct trace_event *event = &source->events[i];
		uint64_t read = NO_EVENT;

		if (event->thread != preemption->thread || !builder_is_access(event))
			continue;
		examined++;
		if (!builder_is_write(event) ||
			cause_preemption_find(preemption, source, event->address))
			continue;
		for (uint64_t at = preemption->begin; at < preemption->end; at++)
			if (source->events[at].address == event->address &&
				builder_is_access(&source->events[at]))
				read = builder_is_store(&source->events[at]) ? preemption->end : at;
		if (read >= preemption->end)
			continue;
		preemption->early = (struct interruption){preemption->begin - 1, i, read, NO_EVENT};
		cause_preemption_find_missed(source, preemption);
		return;
	}
}

static enum pattern cause_preemption_pattern(const struct finding_source *source,
	const struct preemption *preemption, const struct interruption *item)
{
	const struct trace_event *before = &source->events[item->before], *after;

	if (item->after == NO_EVENT)
		return cause_preemption_releases(before) && item->written != NO_EVENT &&
				       preemption->end < source->event_count &&
				       source->events[preemption->end].kind == OP_AFTER_ENABLE
			       ? PATTERN_LEFT
			       : PATTERN_NONE;
	after = &source->events[item->after];
	if (!builder_is_access(before))
		return item->written != NO_EVENT && cause_preemption_releases(before) &&
				       cause_preemption_acquires(after)
			       ? PATTERN_REENTERED
			       : PATTERN_NONE;
	if (item->written != NO_EVENT && builder_is_write(before))
		return builder_is_write(after) ? PATTERN_NONE : PATTERN_CLOBBERED;
	/* the same location again is another turn of a loop */
	if (item->written != NO_EVENT)
		return builder_is_store(after)	     ? PATTERN_LOST
		       : before->site != after->site ? PATTERN_CHANGED
						     : PATTERN_NONE;
	return item->read != NO_EVENT && builder_is_store(before) && builder_is_store(after)
		       ? PATTERN_SEEN
		       : PATTERN_NONE;
}

static void cause_preemption_add(const struct builder *builder, const struct preemption *preemption,
	const struct interruption *item, enum pattern pattern, struct strbuf *cause,
	struct strbuf *remedy)
{
	const struct trace_event *events = builder->source->events;
	const uint64_t between = pattern == PATTERN_SEEN ? item->read : item->written;
	const uint64_t after = pattern == PATTERN_LEFT ? preemption->end : item->after;
	const struct {
		const char *before, *between, *after;
	} words[] = {
		[PATTERN_LOST] = {"reads", "writes", "overwrites"},
		[PATTERN_CLOBBERED] = {"writes", "overwrites", "reads"},
		[PATTERN_CHANGED] = {"reads", "writes", "again reads"},
		[PATTERN_SEEN] = {"writes", "reads", "again writes"},
		[PATTERN_REENTERED] = {"unlocks", op_descriptions[events[between].kind].verb,
			op_descriptions[events[after].kind].verb},
		[PATTERN_LEFT] = {"unlocks", op_descriptions[events[between].kind].verb,
			"continues without"},
	};
	FREE_SCOPED char *object = builder_event_object(builder, &events[item->before]);

	builder_add_sentence(builder, cause, "{actor} {text} {object} at {step}, and is preempted",
		&events[item->before], words[pattern].before, object);
	if (item->before + 1 != preemption->begin)
		builder_add_sentence(
			builder, cause, " before {location}", &events[preemption->end]);
	builder_add_sentence(builder, cause,
		"\n{actor} {text} it at {step}\n{actor} {text} it at {step}", &events[between],
		words[pattern].between, &events[after], words[pattern].after);
	if (pattern == PATTERN_LOST)
		builder_add_sentence(builder, cause, " without having read what {actor} wrote",
			&events[between]);
	if (pattern == PATTERN_REENTERED)
		strbuf_adds(cause, " after that");
	strbuf_adds(cause, "\n");
	if (pattern == PATTERN_LEFT)
		builder_add_sentence(builder, remedy,
			"use what the lock guards before the unlock at {location}, or keep it valid after that: a copy, or a reference count",
			&events[item->before]);
}

/* Adds a sentence about one event, such as "main.0 unlocks mutex m at x.c:7" or "main.0 calls done.count_down(...) at
 * x.c:7". */
static void cause_preemption_add_step(
	const struct builder *builder, uint64_t number, struct strbuf *cause)
{
	const struct trace_event *event = &builder->source->events[number];
	const struct finding *finding = builder->finding;
	const uint64_t at = number - builder->first_step;
	const struct finding_step *step = at < finding->step_count ? &finding->steps[at] : NULL;
	const char *call = step ? step->library_call : NULL;
	FREE_SCOPED char *object =
		step ? string_copy(step->object) : builder_event_object(builder, event);
	FREE_SCOPED char *verb = builder_event_verb(event);

	builder_mark_cause(builder, number, cause);
	builder_add_sentence(builder, cause, call ? "{actor} calls {text}" : "{actor} {text}",
		event, call ? call : verb);
	if (object && !call)
		builder_add_sentence(builder, cause, " {object}", object);
	if (event->site)
		builder_add_sentence(builder, cause, " at {location}", event);
}

static void cause_preemption_add_last(
	const struct builder *builder, uint64_t last, struct strbuf *cause)
{
	cause_preemption_add_step(builder, last, cause);
	strbuf_adds(cause, ", and is preempted\n");
}

static void cause_preemption_add_early(
	const struct builder *builder, const struct preemption *preemption, struct strbuf *cause)
{
	const struct trace_event *events = builder->source->events;
	const struct interruption *early = &preemption->early;
	FREE_SCOPED char *variable = builder_event_object(builder, &events[early->read]);
	FREE_SCOPED char *verb = builder_event_verb(&events[early->read]);

	if (preemption->missed) {
		cause_preemption_add_step(builder, preemption->missed->before, cause);
		builder_add_sentence(builder, cause, ", and is preempted before {location}\n",
			&events[preemption->end]);
		cause_preemption_add_step(builder, preemption->missed->written, cause);
		strbuf_adds(cause, "\n");
	} else {
		cause_preemption_add_last(builder, early->before, cause);
	}
	builder_add_sentence(builder, cause,
		"{actor} {text} {object} at {step}\n{actor} writes it at {step} only after that\n",
		&events[early->read], verb, variable, &events[early->after]);
}

/* Describes the most telling pattern around the preemption; of equal ones, the one whose first access is the last. */
static bool cause_preemption_describe(const struct builder *builder, struct preemption *preemption,
	struct strbuf *cause, struct strbuf *remedy)
{
	const struct interruption *best = NULL;
	enum pattern best_pattern = PATTERN_NONE;

	cause_preemption_collect(builder->source, preemption);
	for (uint32_t i = 0; i < preemption->count; i++) {
		const enum pattern pattern = cause_preemption_pattern(
			builder->source, preemption, &preemption->items[i]);

		if (pattern < best_pattern) {
			best_pattern = pattern;
			best = &preemption->items[i];
		}
	}
	/* A read before the first write explains less than a lost or overwritten value, and more than the
	 * other patterns. */
	if (best_pattern > PATTERN_CLOBBERED)
		cause_preemption_find_early(builder->source, preemption);
	if (preemption->early.after)
		cause_preemption_add_early(builder, preemption, cause);
	else if (best)
		cause_preemption_add(builder, preemption, best, best_pattern, cause, remedy);
	return best || preemption->early.after;
}

uint64_t builder_find_stopped(const struct builder *builder)
{
	const struct finding_source *source = builder->source;
	const struct finding *finding = builder->finding;

	if (finding->preemptions > PREEMPTIONS_MOST)
		return NO_EVENT;
	for (uint32_t step = finding->step_count; step-- > 1;) {
		const uint64_t begin = builder->first_step + step;
		uint16_t thread;

		if (!finding->steps[step].is_preemption)
			continue;
		thread = source->events[begin - 1].thread;
		if (thread != source->outcome->thread.index &&
			cause_preemption_next(source, begin, thread) == source->event_count)
			return begin - 1;
	}
	return NO_EVENT;
}

const char *builder_stopped_cause(const struct builder *builder, struct strbuf *cause)
{
	const uint64_t last = builder_find_stopped(builder);

	if (last == NO_EVENT)
		return NULL;
	cause_preemption_add_last(builder, last, cause);
	return builder_thread(builder, (struct thread_id){builder->source->events[last].thread});
}

void builder_preemption_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_source *source = builder->source;
	const struct finding *finding = builder->finding;

	if (finding->preemptions > PREEMPTIONS_MOST)
		return;
	for (uint32_t step = finding->step_count; step-- > 1;) {
		const uint64_t begin = builder->first_step + step;
		struct preemption preemption = {.begin = begin};

		if (!finding->steps[step].is_preemption)
			continue;
		preemption.thread = source->events[begin - 1].thread;
		preemption.end = cause_preemption_next(source, begin, preemption.thread);
		if (cause_preemption_describe(builder, &preemption, cause, remedy))
			return;
	}
}
