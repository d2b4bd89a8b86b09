/*
 * Title and cause of an access to a variable of another thread's function that has returned. The frame is
 * gone, so the owner's last access to the address says which variable and which function it was.
 */
#include <stdlib.h>

#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* Returns the owner's last access to the address, or NO_EVENT if the trace has none. */
static uint64_t left_frame_last_use(const struct builder *builder)
{
	const struct finding_source *source = builder->source;
	const struct outcome *outcome = source->outcome;

	for (uint64_t i = source->event_count; i-- > 0;)
		if (source->events[i].address == outcome->address &&
			source->events[i].thread == outcome->other_thread.index &&
			builder_is_access(&source->events[i]))
			return i;
	return NO_EVENT;
}

static char *left_frame_variable(const struct builder *builder, uint64_t last_use)
{
	return last_use != NO_EVENT
		       ? builder_event_object(builder, &builder->source->events[last_use])
		       : builder_race_variable(builder, true);
}

/* Returns the name of the function; NULL: unknown. The caller frees it. */
static char *left_frame_function(const struct builder *builder, uint64_t last_use)
{
	struct finding_frame frame;

	if (last_use == NO_EVENT)
		return NULL;
	frame = builder_event_frame(builder, &builder->source->events[last_use]);
	free(frame.file);
	free(frame.module);
	return frame.function;
}

void builder_left_frame_title(const struct builder *builder, struct strbuf *out)
{
	const struct outcome *outcome = builder->source->outcome;
	const uint64_t last_use = left_frame_last_use(builder);
	FREE_SCOPED char *variable = left_frame_variable(builder, last_use);
	FREE_SCOPED char *function = left_frame_function(builder, last_use);

	builder_add_sentence(builder, out,
		"{titled} {text} {object} ({stack}), a variable of {text}, from which {thread} has returned",
		builder->finding->failing_thread, op_descriptions[outcome->op].verb, variable,
		&builder->finding->at, function ? function : "a function", outcome->other_thread);
}

void builder_left_frame_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct outcome *outcome = builder->source->outcome;
	const char *failing = builder->finding->failing_thread;
	const uint64_t last_use = left_frame_last_use(builder);
	struct finding_frame now = builder_frame_at(builder, outcome->other_site, LOCATION_OF_CALL);
	FREE_SCOPED char *function = left_frame_function(builder, last_use);
	FREE_SCOPED char *variable = left_frame_variable(builder, last_use);

	if (last_use != NO_EVENT) {
		builder_add_sentence(builder, cause, "{actor} uses {object} at {step}",
			&builder->source->events[last_use], variable);
		if (function)
			strbuf_addf(cause, ", in %s", function);
		strbuf_adds(cause, "\n");
	}
	builder_mark_later(builder, last_use != NO_EVENT ? 3 : 2);
	builder_add_sentence(builder, cause,
		"{thread} has returned from {text}, and is at {frame}\n"
		"{text} {text} {object} at {stack} after that\n",
		outcome->other_thread, function ? function : "the function of the variable", &now,
		failing, op_descriptions[outcome->op].verb, last_use == NO_EVENT ? variable : NULL,
		&builder->finding->at);
	strbuf_addf(remedy,
		"let %s wait until %s is done with the variable, or give %s a copy, or memory that lives on",
		function ? function : "the function", failing, failing);
	finding_frame_release(&now);
}
