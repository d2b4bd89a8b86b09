/* Builds the end of the interleaving: steps, context switches, preemptions. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "findings/describe/builder.h"

/* People read a few dozen; thousands leave room for pages and keep a finding at a megabyte. */
#define STEPS_STANDARD 2000

/* Walks along the schedule's segments in parallel to the events. */
struct segment_walk {
	const struct finding_source *source;
	uint32_t segment;
	uint64_t used; /* steps already used of that segment */
	bool is_lost;  /* trace and schedule disagree: preemptions are no longer marked */
};

static void interleaving_skip_values(struct segment_walk *walk)
{
	while (walk->segment < walk->source->segment_count &&
		walk->source->segments[walk->segment].flags & SEGMENT_VALUE)
		walk->segment++;
}

static void interleaving_advance(struct segment_walk *walk, uint64_t steps)
{
	interleaving_skip_values(walk);
	walk->used += steps;
	while (walk->segment < walk->source->segment_count &&
		walk->used >= walk->source->segments[walk->segment].count) {
		walk->used -= walk->source->segments[walk->segment].count;
		walk->segment++;
		interleaving_skip_values(walk);
	}
}

static bool interleaving_is_preemption(struct segment_walk *walk, uint16_t thread)
{
	const struct schedule_segment *segments = walk->source->segments;

	if (walk->segment >= walk->source->segment_count ||
		segments[walk->segment].thread != thread)
		walk->is_lost = true;
	return !walk->is_lost && segments[walk->segment].flags & SEGMENT_PREEMPTS;
}

/* The thread made by this creation. Its number follows from the parent's earlier creations. */
static char *interleaving_created_thread(
	const struct builder *builder, const struct trace_event *event, uint32_t ordinal)
{
	const struct finding_source *source = builder->source;
	char *object = NULL;

	for (uint32_t i = event->thread + 1u; i < source->thread_count && !object; i++)
		if (source->threads[i].parent.index == event->thread &&
			source->threads[i].ordinal == ordinal)
			BUG_ON(asprintf(&object, "thread %s", builder->paths[i]) < 0);
	return object;
}

static void interleaving_fill_step(
	const struct builder *builder, const struct trace_event *event, struct finding_step *step)
{
	step->step = event->step;
	step->address = event->address;
	step->thread = string_copy(builder_thread(builder, (struct thread_id){event->thread}));
	step->verb = builder_event_verb(event);
	BUG_ON(!step->verb);
	step->object = builder_event_object(builder, event);
	builder_fill_location(builder, event, step);
}

/*
 * Steps kept of a thread alone at the end of a long run: those before the last switch matter more.
 */
#define STEPS_ALONE 24

static uint64_t interleaving_kept_end(const struct finding_source *source, uint64_t most)
{
	uint64_t last = source->event_count;

	if (source->event_count <= most || source->outcome->kind != OUTCOME_LIVELOCK)
		return source->event_count;
	while (last > 1 && source->events[last - 2].thread == source->events[last - 1].thread)
		last--;
	/* `last` - 1 is the first event since the last switch. */
	return last > 1 && last - 1 + most / 2 < source->event_count && STEPS_ALONE < most
		       ? last - 1 + STEPS_ALONE
		       : source->event_count;
}

/* Start of the kept events: before the recorded window there are only thread creations. */
static uint64_t interleaving_kept_first(const struct finding_source *source, uint64_t first)
{
	while (first < source->event_count && source->events[first].step < source->events_from)
		first++;
	return first;
}

void builder_fill_steps(struct builder *builder)
{
	FREE_SCOPED uint32_t *created =
		array_new(builder->source->thread_count + 1u, sizeof *created);
	const struct finding_source *source = builder->source;
	struct finding *finding = builder->finding;
	struct segment_walk walk = {.source = source};
	const uint64_t most = source->steps_most ? source->steps_most : STEPS_STANDARD;
	const uint64_t end = interleaving_kept_end(source, most);
	const uint64_t first = interleaving_kept_first(source, end > most ? end - most : 0);

	const uint64_t before_free = builder_event_before_free(builder);

	builder->first_step = first;
	finding->steps = array_new(end - first + 3, sizeof *finding->steps);
	finding->steps_left_out =
		source->events_from && first < end ? source->events[first].step : first;
	finding->later_steps_left_out = source->event_count - end;
	if (source->outcome->kind == OUTCOME_LIVELOCK)
		finding->later_steps_left_out += source->events_dropped;
	for (uint64_t i = 0; i < end; i++) {
		const struct trace_event *event = &source->events[i];
		const bool is_switch = i && event->thread != source->events[i - 1].thread;
		const bool is_creation = event->kind == OP_THREAD_CREATE;
		struct finding_step *step = &finding->steps[finding->step_count];
		bool preempts;

		interleaving_advance(&walk, i ? event->step - source->events[i - 1].step : 0);
		preempts = is_switch && interleaving_is_preemption(&walk, event->thread);
		created[event->thread] += is_creation;
		if (i < first)
			continue;
		interleaving_fill_step(builder, event, step);
		if (is_creation && !step->object)
			step->object = interleaving_created_thread(
				builder, event, created[event->thread] - 1);
		step->is_switch = is_switch;
		step->is_preemption = preempts;
		finding->step_count++;
		if (i == before_free)
			builder_add_free_step(builder);
	}
	builder_add_failure_step(builder);
}

static void interleaving_mark(const struct builder *builder, uint64_t step, uint32_t line)
{
	struct finding *finding = builder->finding;

	if (step < finding->step_count && !finding->steps[step].cause_line)
		finding->steps[step].cause_line = line;
}

/* Inserts the event into the list, which stays in the order of the run. An event that is already in the list keeps its
 * line. */
static void interleaving_mark_early(struct early_events *early, uint64_t event, uint32_t line)
{
	uint32_t at = early->count;

	for (uint32_t i = 0; i < early->count; i++)
		if (early->events[i] == event)
			return;
	if (at == EARLY_EVENTS_MAX)
		return;
	for (; at && early->events[at - 1] > event; at--) {
		early->events[at] = early->events[at - 1];
		early->lines[at] = early->lines[at - 1];
	}
	early->events[at] = event;
	early->lines[at] = line;
	early->count++;
}

void builder_add_early_steps(struct builder *builder)
{
	const struct early_events *early = builder->early;
	struct finding *finding = builder->finding;

	if (!early->count || finding->steps_left_out < early->count)
		return;
	finding->steps = array_resize(
		finding->steps, finding->step_count + early->count, sizeof *finding->steps);
	memmove(finding->steps + early->count, finding->steps,
		finding->step_count * sizeof *finding->steps);
	for (uint32_t i = 0; i < early->count; i++) {
		struct finding_step *step = &finding->steps[i];

		*step = (struct finding_step){.cause_line = early->lines[i]};
		interleaving_fill_step(builder, &builder->source->events[early->events[i]], step);
		step->is_switch = i && strcmp(step->thread, step[-1].thread) != 0;
	}
	finding->step_count += early->count;
	finding->early_step_count = early->count;
	finding->steps_left_out -= early->count;
}

void builder_mark_step(const struct builder *builder, uint64_t event, uint32_t line)
{
	const uint64_t at = event - builder->first_step;

	if (event == NO_EVENT)
		return;
	if (event >= builder->first_step)
		interleaving_mark(
			builder, at + (builder->free_step && at >= builder->free_step), line);
	else
		interleaving_mark_early(builder->early, event, line);
}

void builder_mark_earlier(const struct builder *builder, uint32_t line)
{
	if (builder->free_step)
		interleaving_mark(builder, builder->free_step, line);
	else
		builder_mark_step(builder, builder_find_earlier(builder), line);
}

void builder_mark_later(const struct builder *builder, uint32_t line)
{
	const struct outcome *outcome = builder->source->outcome;

	if (builder->failure_step) {
		interleaving_mark(builder, builder->failure_step, line);
		return;
	}
	for (uint64_t i = builder->source->event_count; i-- > 0;) {
		const struct trace_event *event = &builder->source->events[i];

		if (event->thread != outcome->thread.index)
			continue;
		if (event->kind == outcome->op)
			builder_mark_step(builder, i, line);
		return;
	}
}

uint32_t builder_next_line(const struct strbuf *cause)
{
	uint32_t line = 1;

	for (size_t i = 0; i < cause->length; i++)
		line += cause->text[i] == '\n';
	return line;
}

void builder_mark_cause(const struct builder *builder, uint64_t event, const struct strbuf *cause)
{
	builder_mark_step(builder, event, builder_next_line(cause));
}
