/*
 * Writes in sentences why a signal does not end a wait: the handler runs after the thread's last test and before its
 * call waits, so that nothing interrupts the call. The sentences are facts of the trace.
 */
#include "base/array.h"
#include "base/strbuf.h"
#include "findings/describe/causes/causes_internal.h"

/* Finds the step at which the waiting thread ran a signal handler just before the call in which it waits. Returns
 * NO_EVENT if it ran none there, or has called the function once more after the handler. The trace may end with the step
 * of the wait or, if that step never came, with the one before it. The handler's own steps lie at other code addresses. */
static uint64_t early_handler_find(
	const struct finding_source *source, const struct wait_edge *edge)
{
	bool has_waited = false;

	for (uint64_t i = source->event_count; i-- > 0;) {
		const struct trace_event *event = &source->events[i];

		if (event->thread != edge->waiter.index || event->site != edge->site)
			continue;
		if (has_waited || (event->kind != edge->op && event->kind != OP_BEFORE_WAIT))
			return event->kind == OP_SIGNAL_HANDLE ? i : NO_EVENT;
		has_waited = true;
	}
	return NO_EVENT;
}

/* Returns the last event before `handled` by which another thread sends the same signal, or NO_EVENT if there is none. */
static uint64_t early_handler_find_sender(const struct finding_source *source, uint64_t handled)
{
	for (uint64_t i = handled; i-- > 0;)
		if (source->events[i].kind == OP_SIGNAL_SEND &&
			source->events[i].number == source->events[handled].number)
			return i;
	return NO_EVENT;
}

static void early_handler_add_sender(
	const struct builder *builder, const struct trace_event *sent, struct strbuf *cause)
{
	FREE_SCOPED char *verb = builder_event_verb(sent);
	const struct thread_id receiver = {(uint16_t)(sent->other - 1)};

	if (sent->other)
		builder_add_sentence(builder, cause, "{actor} {text} {thread} at {step}\n", sent,
			verb, receiver);
	else
		builder_add_sentence(builder, cause, "{actor} {text} at {step}\n", sent, verb);
}

bool builder_early_handler_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_source *source = builder->source;

	for (uint32_t i = 0; i < source->outcome->wait_count; i++) {
		const struct wait_edge *edge = &source->outcome->waits[i];
		const uint64_t handled =
			edge->is_in_child ? NO_EVENT : early_handler_find(source, edge);
		uint64_t sent;
		FREE_SCOPED char *verb = NULL;

		if (handled == NO_EVENT)
			continue;
		sent = early_handler_find_sender(source, handled);
		if (sent != NO_EVENT)
			early_handler_add_sender(builder, &source->events[sent], cause);
		verb = builder_event_verb(&source->events[handled]);
		builder_add_sentence(builder, cause,
			"{actor} {text} at {step}, before its call there waits: the signal does not interrupt this call\n",
			&source->events[handled], verb);
		strbuf_adds(remedy,
			"block the signal, test what its handler changes, and wait by a call that unblocks the signal (ppoll, pselect, epoll_pwait, sigsuspend); or let the handler write to a pipe that the wait includes");
		return true;
	}
	return false;
}
