/* Writes what led to a failure and what prevents it, from the trace of the failing run. */
#include <stdlib.h>
#include <string.h>

#include "findings/build_internal.h"

static char *cause_text(struct strbuf *text)
{
	if (text->length && text->text[text->length - 1] == '\n')
		text->text[--text->length] = '\0';
	if (text->length)
		return strbuf_detach(text);
	strbuf_release(text);
	return NULL;
}

void builder_fill_cause(struct builder *builder)
{
	struct strbuf cause, remedy;

	strbuf_init(&cause);
	strbuf_init(&remedy);
	switch (builder->finding->kind) {
	case OUTCOME_LOST_WAKEUP:
		if (builder->culprit != UINT32_MAX)
			builder_signals_cause(builder, &cause, &remedy);
		break;
	case OUTCOME_DEADLOCK:
	case OUTCOME_SELF_DEADLOCK:
		builder_deadlock_cause(builder, &cause, &remedy);
		break;
	case OUTCOME_RACE:
	case OUTCOME_USE_AFTER_FREE:
	case OUTCOME_DOUBLE_FREE:
		builder_accesses_cause(builder, &cause, &remedy);
		break;
	default:
		break;
	}
	builder->finding->cause = cause_text(&cause);
	builder->finding->remedy = cause_text(&remedy);
}
