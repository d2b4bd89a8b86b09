/*
 * Completes the wait-for graph from the trace: holders of semaphores used as locks, the reader that
 * closes a cycle, and threads that could have ended a wait.
 */
#include <string.h>

#include "base/array.h"
#include "findings/describe/builder.h"

static bool waits_is_in_cycle(struct outcome *outcome, const struct wait_edge *start)
{
	const struct wait_edge *edge = start;

	for (uint32_t hops = 0; edge && hops <= outcome->wait_count; hops++) {
		edge = outcome_wait_of(outcome, edge->holder);
		if (edge == start)
			return true;
	}
	return false;
}

/* Acquisitions minus releases of the object by one thread. */
struct balance {
	int64_t count;
	uint64_t site; /* location of the last acquisition */
};

static int waits_takes(const struct trace_event *event, enum op_kind kind)
{
	if (kind == OP_SEM_WAIT)
		return (event->kind == OP_SEM_WAIT) - (event->kind == OP_SEM_POST);
	return (event->kind == OP_RWLOCK_RDLOCK) - (event->kind == OP_RWLOCK_UNLOCK);
}

static struct balance *waits_count_balances(
	const struct finding_source *source, const struct wait_edge *edge, bool *is_lock)
{
	struct balance *balance = array_new(source->thread_count + 1u, sizeof *balance);

	*is_lock = true;
	for (uint64_t i = 0; i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i];
		const int change = event->address == edge->object_address
					   ? waits_takes(event, (enum op_kind)edge->op)
					   : 0;

		balance[event->thread].count += change;
		if (change > 0)
			balance[event->thread].site = event->site;
		/* A release without an acquisition is a signal: the semaphore is no lock. */
		*is_lock &= balance[event->thread].count >= 0;
	}
	return balance;
}

/* Sets the holder: the first one that closes a cycle, else the first one, else the waiter itself. */
static void waits_find_holder(
	const struct finding_source *source, struct outcome *outcome, struct wait_edge *edge)
{
	const struct wait_edge before = *edge;
	bool is_lock;
	FREE_SCOPED struct balance *balance = waits_count_balances(source, edge, &is_lock);
	struct wait_edge first = before;

	for (uint32_t i = 0; is_lock && i < source->thread_count && !edge->is_on_cycle; i++) {
		if (balance[i].count <= 0 || i == edge->waiter.index)
			continue;
		edge->holder = (struct thread_id){(uint16_t)i};
		edge->holder_site = balance[i].site;
		edge->is_on_cycle = waits_is_in_cycle(outcome, edge);
		if (thread_same(first.holder, THREAD_NONE))
			first = *edge;
	}
	if (!edge->is_on_cycle)
		*edge = first;
	if (is_lock && edge->op == OP_SEM_WAIT && thread_same(edge->holder, THREAD_NONE) &&
		balance[edge->waiter.index].count > 0) {
		edge->holder = edge->waiter;
		edge->holder_site = balance[edge->waiter.index].site;
		edge->is_on_cycle = true;
	}
}

void resolve_waits(const struct finding_source *source, struct outcome *outcome)
{
	bool has_changed = false;

	/* the trace belongs to the parent process */
	if (outcome->kind != OUTCOME_DEADLOCK ||
		(outcome->wait_count && outcome->waits[0].is_in_child))
		return;
	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		struct wait_edge *edge = &outcome->waits[i];
		const bool is_open = thread_same(edge->holder, THREAD_NONE);

		if (edge->is_on_cycle ||
			!((edge->op == OP_SEM_WAIT && is_open) || edge->op == OP_RWLOCK_WRLOCK))
			continue;
		waits_find_holder(source, outcome, edge);
		has_changed = true;
	}
	/* Edges examined first did not know the later ones: repeat. */
	for (uint32_t i = 0; i < outcome->wait_count && has_changed; i++)
		outcome->waits[i].is_on_cycle = waits_is_in_cycle(outcome, &outcome->waits[i]);
}

bool builder_waits_for_itself(const struct builder *builder)
{
	const struct outcome *outcome = builder->source->outcome;

	for (uint32_t i = 0; outcome->kind == OUTCOME_DEADLOCK && i < outcome->wait_count; i++)
		if (outcome->waits[i].op == OP_SEM_WAIT &&
			thread_same(outcome->waits[i].holder, outcome->waits[i].waiter))
			return true;
	return false;
}

static bool waits_ends_wait(const struct trace_event *event, enum object_class class)
{
	if (class == OBJECT_COND)
		return event->kind == OP_COND_SIGNAL || event->kind == OP_COND_BROADCAST;
	return event->kind == OP_SEM_POST;
}

static const struct trace_event *waits_last_ending(
	const struct builder *builder, const struct wait_edge *edge, enum object_class class)
{
	for (uint64_t i = builder->source->event_count; i--;) {
		const struct trace_event *event = &builder->source->events[i];

		if (event->address == edge->object_address && waits_ends_wait(event, class))
			return event;
	}
	return NULL;
}

static bool waits_has_earlier_wait(const struct outcome *outcome, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (outcome->waits[i].object_address == outcome->waits[index].object_address)
			return true;
	return false;
}

/* Adds a thread that may be the one to end the wait, but is blocked by the waiter. */
static void waits_add_blocked_ender(
	const struct builder *builder, uint32_t index, struct strbuf *out)
{
	const struct outcome *outcome = builder->source->outcome;
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		const struct wait_edge *edge = &outcome->waits[i];
		const char *object = finding->waits[i].object;

		if (i == index || edge->op == OP_THREAD_JOIN || !object ||
			!thread_same(edge->holder, outcome->waits[index].waiter))
			continue;
		builder_add_sentence(builder, out,
			"; {text} may be the thread that should, but waits for {object}, which {text} holds",
			finding->waits[i].thread, object, finding->waits[index].thread);
		return;
	}
}

void builder_add_hopes(const struct builder *builder, struct strbuf *out)
{
	const struct outcome *outcome = builder->source->outcome;

	for (uint32_t i = 0; outcome->kind == OUTCOME_DEADLOCK && i < outcome->wait_count; i++) {
		const struct wait_edge *edge = &outcome->waits[i];
		const enum object_class class = op_descriptions[edge->op].object;
		const char *object = builder->finding->waits[i].object;
		const struct trace_event *event;

		if ((class != OBJECT_COND && class != OBJECT_SEM) || !object ||
			!thread_same(edge->holder, THREAD_NONE) ||
			waits_has_earlier_wait(outcome, i))
			continue;
		event = waits_last_ending(builder, edge, class);
		builder_add_sentence(builder, out, "{object} was ", object);
		if (event)
			builder_add_sentence(builder, out, "last {text} by {actor} at {location}",
				class == OBJECT_COND ? "signalled" : "posted", event, event);
		else if (!builder->source->events_dropped)
			strbuf_addf(out, "never %s in this run",
				class == OBJECT_COND ? "signalled" : "posted");
		else
			strbuf_adds(out, "not signalled in what was recorded of this run");
		waits_add_blocked_ender(builder, i, out);
		strbuf_adds(out, "\n");
	}
}
