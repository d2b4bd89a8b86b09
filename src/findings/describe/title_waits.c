/* Titles of threads that wait for ever: deadlocks and lost wake-ups. */
#include <inttypes.h>
#include <string.h>

#include "findings/describe/builder.h"

/* Threads in a title; the table of waits has all. */
#define TITLE_CLAUSES_MAX 3

/* Adds " waits for mutex m (bank.c:41)". `is_short`: a deadlock's title repeats its objects. */
static void title_waits_add_wait(
	const struct builder *builder, uint32_t index, bool is_short, struct strbuf *out)
{
	const struct finding_wait *wait = &builder->finding->waits[index];
	const struct wait_edge *edge = &builder->source->outcome->waits[index];
	const enum object_class class = op_descriptions[edge->op].object;
	const char *object = wait->object ? wait->object : "nothing in particular";
	const int length = is_short ? finding_short_name(object) : (int)strlen(object);

	if (class == OBJECT_COND)
		strbuf_addf(out, " waits on %.*s", length, object);
	else if (class == OBJECT_BARRIER)
		strbuf_addf(out, " waits at %.*s", length, object);
	else if (class == OBJECT_MEMORY) /* without the location where it is declared */
		strbuf_addf(out, " waits in a loop for %.*s",
			strstr(object, " (") ? (int)(strstr(object, " (") - object) : length,
			object);
	else if (edge->op == OP_THREAD_JOIN)
		strbuf_addf(out, " waits for %s to end", object);
	else if (!wait->object)
		strbuf_addf(out, " %s", wait->verb);
	else if (class == OBJECT_FD || class == OBJECT_CHILD) {
		strbuf_adds(out, " is blocked ");
		finding_add_gerund(wait->verb, out);
		strbuf_addf(out, " %.*s", length, object);
	} else
		strbuf_addf(out, " waits for %.*s", length, object);
	builder_add_sentence(builder, out, " ({stack})", &wait->at);
}

static bool title_waits_is_waiting(const struct finding *finding, const char *thread)
{
	for (uint32_t i = 0; i < finding->wait_count; i++)
		if (!strcmp(finding->waits[i].thread, thread))
			return true;
	return false;
}

/* Adds where a holder that has ended, and will never release the lock, acquired it. */
static void title_waits_add_gone_holder(const struct builder *builder,
	const struct finding_wait *wait, bool is_in_child, struct strbuf *out)
{
	if (!wait->holder || !wait->held_since.module ||
		(!is_in_child && title_waits_is_waiting(builder->finding, wait->holder)))
		return;
	builder_add_sentence(builder, out,
		is_in_child ? ", which {text} had taken at {frame} when the child was forked"
			    : ", which {text} took at {frame} and never released",
		wait->holder, &wait->held_since);
}

/* A wait for something that this thread holds; returns NULL if there is none. */
static const struct finding_wait *title_waits_held_by(
	const struct finding *finding, const char *thread)
{
	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];

		if (wait->holder && wait->object && wait->held_since.module &&
			!strcmp(wait->holder, thread))
			return wait;
	}
	return NULL;
}

/* If the waits have a cycle, selects the waits on the cycle. Otherwise selects first other waits,
 * then joins. */
static bool title_waits_has_wait(const struct finding *finding, const struct wait_edge *edge,
	uint32_t index, bool has_cycle, bool is_join)
{
	if (has_cycle)
		return finding->waits[index].is_on_cycle && !is_join;
	return (edge->op == OP_THREAD_JOIN) == is_join;
}

static void title_waits_add_clause(
	const struct builder *builder, uint32_t index, struct strbuf *out)
{
	const struct finding *finding = builder->finding;
	const struct finding_wait *wait = &finding->waits[index];
	const struct finding_wait *held = title_waits_held_by(finding, wait->thread);
	const struct wait_edge *edge = &builder->source->outcome->waits[index];

	finding_add_thread(finding, wait->thread, out);
	if (held)
		builder_add_sentence(builder, out, " holds {object} ({frame}) and", held->object,
			&held->held_since);
	title_waits_add_wait(builder, index, true, out);
	title_waits_add_gone_holder(builder, wait, edge->is_in_child, out);
}

/*
 * Returns the wait that clause `location` (from 0) of a title describes, UINT32_MAX if none is left. The
 * order: waits on the cycle, the wait that lost its signal, other waits, joins.
 */
static uint32_t title_waits_clause(const struct builder *builder, bool has_cycle, uint32_t location)
{
	const struct finding *finding = builder->finding;
	const struct wait_edge *edges = builder->source->outcome->waits;
	const uint32_t first = has_cycle ? UINT32_MAX : builder->culprit;

	if (first != UINT32_MAX && location-- == 0)
		return first;
	for (int is_join = 0; is_join < 2; is_join++)
		for (uint32_t i = 0; i < finding->wait_count; i++)
			if (i != first &&
				title_waits_has_wait(finding, &edges[i], i, has_cycle, is_join) &&
				location-- == 0)
				return i;
	return UINT32_MAX;
}

void builder_deadlock_title(const struct builder *builder, struct strbuf *out)
{
	const struct finding *finding = builder->finding;
	bool has_cycle = false;
	uint32_t reported = 0;

	for (uint32_t i = 0; i < finding->wait_count; i++)
		has_cycle |= finding->waits[i].is_on_cycle;
	for (uint32_t i = title_waits_clause(builder, has_cycle, 0); i != UINT32_MAX;
		i = title_waits_clause(builder, has_cycle, ++reported)) {
		if (reported >= TITLE_CLAUSES_MAX)
			continue;
		strbuf_adds(out, reported ? "; " : "");
		title_waits_add_clause(builder, i, out);
	}
	if (reported > TITLE_CLAUSES_MAX)
		strbuf_addf(out, "; and %" PRIu32 " more %s", reported - TITLE_CLAUSES_MAX,
			reported == TITLE_CLAUSES_MAX + 1 ? "thread" : "threads");
	if (!reported)
		strbuf_adds(out, outcome_descriptions[finding->kind].sentence);
}

void builder_self_deadlock_title(const struct builder *builder, struct strbuf *out)
{
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];
		const struct wait_edge *edge = &builder->source->outcome->waits[i];

		if (!thread_same(edge->holder, edge->waiter))
			continue;
		finding_add_thread(finding, wait->thread, out);
		title_waits_add_wait(builder, i, false, out);
		builder_add_sentence(builder, out,
			edge->op == OP_ONCE_ENTER ? ", whose routine it runs itself since {frame}"
						  : ", which it holds itself since {frame}",
			&wait->held_since);
		return;
	}
	strbuf_adds(out, outcome_descriptions[finding->kind].sentence);
}

void builder_lost_wakeup_title(const struct builder *builder, struct strbuf *out)
{
	const struct signal_history *signals = &builder->signals;
	const struct trace_event *events = builder->source->events;
	const struct finding *finding = builder->finding;
	const struct trace_event *signal;
	uint32_t lost = builder->culprit;

	for (uint32_t i = 0; lost == UINT32_MAX && i < finding->wait_count; i++)
		if (signal_history_is_other_wait(&builder->source->outcome->waits[i]))
			lost = i;
	/* If there is no trace, the first wait on a condition variable stands for the lost one. */
	for (uint32_t i = 0; lost == UINT32_MAX && i < finding->wait_count; i++)
		if (op_descriptions[builder->source->outcome->waits[i].op].object == OBJECT_COND)
			lost = i;
	if (lost == UINT32_MAX) {
		strbuf_adds(out, outcome_descriptions[finding->kind].sentence);
		return;
	}
	finding_add_thread(finding, finding->waits[lost].thread, out);
	title_waits_add_wait(builder, lost, false, out);
	if (builder->culprit == UINT32_MAX || signals->signal == NO_EVENT)
		return;
	signal = &events[signals->signal];
	builder_add_sentence(builder, out,
		signal->kind == OP_COND_SIGNAL ? "; {actor} had signalled it at {location}"
					       : "; {actor} had broadcast on it at {location}",
		signal, signal);
	if (signals->late != NO_EVENT)
		builder_add_sentence(
			builder, out, " before the change at {location}", &events[signals->late]);
	else if (signals->signal < signals->wait)
		strbuf_adds(out, " before it waited");
	else if (signals->woken != NO_EVENT)
		builder_add_sentence(builder, out, ", which woke {actor}", &events[signals->woken]);
}
