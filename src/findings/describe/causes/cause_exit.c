/*
 * Writes in sentences that a thread fails because another one ends the process: exit(), and the return
 * from main, run exit handlers and the destructors of static objects while other threads still run.
 */
#include "findings/describe/causes/causes_internal.h"

static bool cause_exit_is_exit(const struct trace_event *event)
{
	return event->call == CALL_EXIT || event->call == CALL_LEAVE_MAIN;
}

uint64_t builder_find_exit(const struct builder *builder)
{
	const struct finding_source *source = builder->source;

	for (uint64_t i = source->event_count; i-- > 0;)
		if (cause_exit_is_exit(&source->events[i]))
			return source->events[i].thread == source->outcome->thread.index ? NO_EVENT
											 : i;
	return NO_EVENT;
}

uint64_t builder_find_unload(const struct builder *builder)
{
	const struct finding_source *source = builder->source;

	if (source->outcome->kind != OUTCOME_CRASH || !source->outcome->other_site)
		return NO_EVENT;
	for (uint64_t i = source->event_count; i-- > 0;)
		if (source->events[i].call == CALL_UNLOAD &&
			source->events[i].site == source->outcome->other_site)
			return i;
	return NO_EVENT;
}

static void cause_exit_add_unload(
	const struct builder *builder, uint64_t unload, struct strbuf *cause, struct strbuf *remedy)
{
	const struct trace_event *event = &builder->source->events[unload];
	const char *thread = builder_thread(builder, builder->source->outcome->thread);

	builder_mark_cause(builder, unload, cause);
	builder_add_sentence(
		builder, cause, "{actor} unloads a library at {location}", event, event);
	strbuf_addf(cause, ", while %s still uses it\n%s crashes after that\n", thread, thread);
	if (event->thread != builder->source->outcome->thread.index)
		builder_add_sentence(
			builder, remedy, "join {text} before dlclose at {location}", thread, event);
}

bool builder_exit_cause(const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const uint64_t exit = builder_find_exit(builder), unload = builder_find_unload(builder);
	const struct trace_event *event;
	const char *thread;

	if (unload != NO_EVENT) {
		cause_exit_add_unload(builder, unload, cause, remedy);
		return true;
	}
	if (exit == NO_EVENT)
		return false;
	event = &builder->source->events[exit];
	thread = builder_thread(builder, builder->source->outcome->thread);
	builder_mark_cause(builder, exit, cause);
	builder_add_sentence(builder, cause, "{actor} {text}", event, call_verbs[event->call]);
	if (event->call == CALL_EXIT)
		builder_add_sentence(builder, cause, " at {location}", event);
	builder_add_sentence(builder, remedy,
		event->call == CALL_EXIT ? "join {text} before exit at {location}"
					 : "join {text} before main returns",
		thread, event);
	strbuf_addf(cause,
		", which runs exit handlers and destroys static objects, while %s still runs\n",
		thread);
	if (builder->finding->kind != OUTCOME_CRASH && builder->finding->kind != OUTCOME_ABORT)
		return true;
	builder_add_end(builder, cause);
	strbuf_adds(cause, " after that\n");
	return true;
}
