/*
 * Steps of an interleaving that are no scheduling points, so the trace does not have them: the free before a use after
 * free, in programs whose frees are no operations, and the failure itself. Both happen between two scheduling points,
 * and carry the number of the earlier one.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "findings/describe/builder.h"
#include "model/op.h"

/* What the failing thread does at the end of a run, by the kind of the failure. For the other kinds, either the trace has
 * that step, or no single step is the failure. */
static const char *const ending_verbs[OUTCOME_KIND_COUNT] = {
	[OUTCOME_ABORT] = "aborts",
	[OUTCOME_SANITIZER] = "causes the sanitizer's report",
	[OUTCOME_HANG] = "runs on",
	[OUTCOME_JOIN_SELF] = "joins itself",
	[OUTCOME_JOIN_GONE] = "joins a thread that is gone",
};

static void ending_fill_where(const struct finding_stack *stack, struct finding_step *step)
{
	const struct finding_frame *frame = finding_user_frame(stack);

	if (frame)
		step->where = (struct finding_frame){.function = string_copy(frame->function),
			.file = string_copy(frame->file),
			.line = frame->line,
			.module = string_copy(frame->module),
			.is_system = frame->is_system,
			.is_wrapper = frame->is_wrapper};
}

/* Returns the last event of the thread, or NULL if it has none. */
static const struct trace_event *ending_last_event(
	const struct finding_source *source, struct thread_id thread)
{
	for (uint64_t i = source->event_count; i-- > 0;)
		if (source->events[i].thread == thread.index)
			return &source->events[i];
	return NULL;
}

/* Returns whether the last step of the failing thread is the failure. */
static bool ending_is_recorded(const struct finding_source *source)
{
	const struct outcome *outcome = source->outcome;
	const struct trace_event *last = ending_last_event(source, outcome->thread);

	if (!last)
		return false;
	switch (outcome->kind) {
	case OUTCOME_UNLOCK_NOT_OWNED:
	case OUTCOME_DESTROY_HELD:
	case OUTCOME_USE_AFTER_RETURN:
		return true;
	case OUTCOME_ABORT:
		return last->kind == OP_SIGNAL_SEND; /* abort() has raised SIGABRT */
	case OUTCOME_EXIT:
		return last->call == CALL_EXIT || last->call == CALL_LEAVE_MAIN;
	default:
		return outcome_has_accesses(outcome) && outcome->op && last->kind == outcome->op &&
		       outcome->address - last->address < (last->bytes ? last->bytes : 1);
	}
}

/* Returns what the thread does at the end, or NULL if no single step is the failure. The caller frees it. */
static char *ending_verb(const struct builder *builder)
{
	const struct outcome *outcome = builder->source->outcome;
	char *verb = NULL;

	if (outcome_has_accesses(outcome))
		return string_copy(builder->finding->race[FINDING_LATER].verb);
	if (outcome->kind != OUTCOME_CRASH)
		return string_copy(ending_verbs[outcome->kind]);
	/* After these signals the instruction at `site` is the failure. Another signal was sent by a step of the trace. */
	if (outcome->code == SIGSEGV || outcome->code == SIGBUS || outcome->code == SIGFPE ||
		outcome->code == SIGILL || outcome->code == SIGTRAP)
		BUG_ON(asprintf(&verb, "gets SIG%s", sigabbrev_np(outcome->code)) < 0);
	return verb;
}

/* Marks the last step of the failing thread as the failure. */
static void ending_mark_recorded(struct finding *finding)
{
	for (uint32_t i = finding->step_count; i-- > 0;)
		if (strcmp(finding->steps[i].thread, finding->failing_thread) == 0) {
			finding->steps[i].is_failure = true;
			return;
		}
}

void builder_add_failure_step(struct builder *builder)
{
	const struct outcome *outcome = builder->source->outcome;
	struct finding *finding = builder->finding;
	struct finding_step *step = &finding->steps[finding->step_count];
	char *verb;

	if (!finding->step_count || !finding->failing_thread)
		return;
	if (ending_is_recorded(builder->source)) {
		ending_mark_recorded(finding);
		return;
	}
	verb = ending_verb(builder);
	if (!verb)
		return;
	*step = (struct finding_step){.step = step[-1].step,
		.thread = string_copy(finding->failing_thread),
		.verb = verb,
		.is_failure = true};
	step->is_switch = strcmp(step->thread, step[-1].thread) != 0;
	if (outcome_has_accesses(outcome)) {
		FREE_SCOPED char *variable = builder_race_variable(builder, true);

		if (variable)
			BUG_ON(asprintf(&step->object, "%s%s",
				       outcome_is_of_pair(outcome->kind) ? "" : "freed ",
				       variable) < 0);
	}
	ending_fill_where(&finding->at, step);
	builder->failure_step = finding->step_count++;
}

/* Returns whether main() itself frees the memory, and not what runs after it, such as a destructor. */
static bool ending_is_in_main(const struct finding_stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->frames[i].function && strcmp(stack->frames[i].function, "main") == 0)
			return true;
	return false;
}

uint64_t builder_event_before_free(const struct builder *builder)
{
	const struct finding_source *source = builder->source;
	const struct outcome *outcome = source->outcome;
	const bool is_in_main = ending_is_in_main(&builder->finding->race[FINDING_EARLIER].at);

	if (outcome_is_of_pair(outcome->kind) || !outcome_has_accesses(outcome) ||
		outcome_is_of_destroyed(outcome) || builder_find_earlier(builder) != NO_EVENT)
		return NO_EVENT;
	for (uint64_t i = source->event_count; i-- > 0;) {
		const struct trace_event *event = &source->events[i];

		/* The runtime stores the number of steps that the run had made when the memory was freed. */
		if (event->step < outcome->other_step &&
			event->thread == outcome->other_thread.index &&
			!(is_in_main && event->call == CALL_LEAVE_MAIN))
			return i;
	}
	return NO_EVENT;
}

void builder_add_free_step(struct builder *builder)
{
	struct finding *finding = builder->finding;
	struct finding_step *step = &finding->steps[finding->step_count];

	*step = (struct finding_step){.step = step[-1].step,
		.thread = string_copy(finding->race[FINDING_EARLIER].thread),
		.verb = string_copy(finding->race[FINDING_EARLIER].verb),
		.object = builder_race_variable(builder, true)};
	ending_fill_where(&finding->race[FINDING_EARLIER].at, step);
	builder->free_step = finding->step_count++;
}
