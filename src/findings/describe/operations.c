#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "findings/describe/builder.h"

static void operations_add_signal(unsigned number, struct strbuf *out)
{
	const char *name = sigabbrev_np((int)number);

	if (name)
		strbuf_addf(out, "SIG%s", name);
	else if (number >= (unsigned)SIGRTMIN && number <= (unsigned)SIGRTMAX)
		strbuf_addf(out, "SIGRTMIN+%u", number - (unsigned)SIGRTMIN);
	else
		strbuf_addf(out, "signal %u", number);
}

/* Adds the verb of a sent signal: "sends SIGUSR1 to" (a thread), "sends SIGTERM to the process", "raises SIGABRT". */
static void operations_add_sending(const struct trace_event *event, struct strbuf *out)
{
	const bool is_raised = event->other && event->other - 1 == event->thread;

	strbuf_adds(out, is_raised ? "raises " : "sends ");
	operations_add_signal(event->number, out);
	if (!is_raised)
		strbuf_adds(out, event->address ? " to" : " to the process");
}

static void operations_add_verb(const struct trace_event *event, struct strbuf *out)
{
	if (event->kind == OP_SIGNAL_SEND && event->number) {
		operations_add_sending(event, out);
	} else if (event->kind == OP_SIGNAL_HANDLE) {
		strbuf_adds(out, "handles ");
		operations_add_signal(event->number, out);
	} else if (event->call && event->call < CALL_KIND_COUNT) {
		strbuf_adds(out, call_verbs[event->call]);
	} else {
		strbuf_adds(out, op_descriptions[event->kind].verb);
	}
}

/* Adds how an operation ended early. OP_COND_WAKE, the end of a condition wait, takes the verb of the wait. */
static void operations_add_ended_verb(
	const struct trace_event *event, const char *how, struct strbuf *out)
{
	STRBUF_SCOPED verb = STRBUF_EMPTY;

	if (event->kind == OP_COND_WAKE)
		strbuf_adds(&verb, op_descriptions[OP_COND_WAIT].verb);
	else
		operations_add_verb(event, &verb);
	strbuf_addf(out, "%s ", how);
	finding_add_gerund(verb.text, out);
}

char *builder_event_verb(const struct trace_event *event)
{
	struct strbuf out = STRBUF_EMPTY;

	switch (event->result) {
	case RESULT_TIMED_OUT:
		operations_add_ended_verb(event, "times out", &out);
		break;
	case RESULT_INTERRUPTED:
		operations_add_ended_verb(event, "is interrupted by a signal", &out);
		break;
	case RESULT_CANCELLED:
		operations_add_ended_verb(event, "is cancelled", &out);
		break;
	default:
		operations_add_verb(event, &out);
	}
	return strbuf_detach(&out);
}

static char *operations_descriptor_name(uint16_t number)
{
	const int fd = descriptor_of(number);
	char *name = NULL;

	if (fd >= 0)
		BUG_ON(asprintf(&name, "%s %d", descriptor_noun_text(number), fd) < 0);
	return name;
}

char *builder_operand(const struct builder *builder, const struct trace_event *event)
{
	const enum object_class class = op_descriptions[event->kind].object;
	char *name = class == OBJECT_FD ? operations_descriptor_name(event->number) : NULL;

	if (name)
		return name;
	if (class != OBJECT_THREAD || !event->other)
		return builder_object(
			builder, (enum op_kind)event->kind, event->address, event->step);
	/* A thread that acts on itself is not repeated as the object. */
	if (event->other - 1 != event->thread)
		BUG_ON(asprintf(&name, "thread %s",
			       builder_thread(builder,
				       (struct thread_id){(uint16_t)(event->other - 1)})) < 0);
	return name;
}

char *builder_wait_object(const struct builder *builder, const struct wait_edge *edge)
{
	char *name = op_descriptions[edge->op].object == OBJECT_FD
			     ? operations_descriptor_name(edge->number)
			     : NULL;

	return name ? name
		    : builder_object(
			      builder, (enum op_kind)edge->op, edge->object_address, UINT64_MAX);
}
