/* The end of a run in failure: the wait-for graph and its classification. */
#include "base/bug.h"
#include "engine/engine.h"
#include "engine/engine_internal.h"

void engine_set_holder(enum object_class class, engine_holder *holder)
{
	engine.holders[class] = holder;
}

void engine_set_signal_history(engine_signal_history *history)
{
	engine.signal_history = history;
}

static struct thread_id engine_find_holder(const struct engine_op *op, uint64_t *site)
{
	enum object_class class = op_descriptions[op->kind].object;

	*site = 0;
	if (op->kind == OP_THREAD_JOIN)
		return ((const struct engine_thread *)op->address)->id;
	/* A wait on a condition variable has no holder; only its later wait for the mutex has
	 * one. */
	if (class == OBJECT_COND || !engine.holders[class])
		return THREAD_NONE;
	return engine.holders[class](op->address, site);
}

static void engine_collect_wait(struct outcome *outcome, const struct engine_thread *thread)
{
	const struct engine_op *op = engine_blocked_op(thread);
	struct wait_edge *edge;

	if (outcome->wait_count == OUTCOME_WAITS_MAX) {
		outcome->waits_left_out++;
		return;
	}
	edge = &outcome->waits[outcome->wait_count++];
	edge->waiter = thread->id;
	edge->op = op->kind;
	edge->call = op->call;
	edge->number = op->number;
	edge->is_on_cycle = 0;
	edge->lost_signals = 0;
	edge->object = thread->op    ? engine.pending[thread->id.index].object
		       : op->address ? engine_object_name(op->address)
				     : 0;
	edge->object_address = (uint64_t)(uintptr_t)op->address;
	edge->site = op->site;
	edge->holder = engine_find_holder(op, &edge->holder_site);
	if (op_descriptions[op->kind].object == OBJECT_COND && engine.signal_history)
		edge->lost_signals = engine.signal_history(op->address).lost;
}

static struct wait_edge *engine_edge_of(struct outcome *outcome, struct thread_id thread)
{
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		if (thread_same(outcome->waits[i].waiter, thread))
			return &outcome->waits[i];
	return NULL;
}

/* Every thread waits for at most one other thread: follows the holders from each edge until they
 * repeat. */
static void engine_mark_cycles(struct outcome *outcome)
{
	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		struct wait_edge *start = &outcome->waits[i];
		struct wait_edge *edge = start;

		for (uint32_t hops = 0; edge && hops <= outcome->wait_count; hops++) {
			edge = engine_edge_of(outcome, edge->holder);
			if (edge == start) {
				start->is_on_cycle = 1;
				break;
			}
		}
	}
}

void engine_collect_waits(struct outcome *outcome)
{
	engine_look();
	outcome->wait_count = outcome->waits_left_out = 0;
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		const struct engine_thread *thread = &engine.threads[i];

		if (engine_blocked_op(thread))
			engine_collect_wait(outcome, thread);
	}
	engine_mark_cycles(outcome);
}

/* Is this a wait on a condition variable? */
static bool engine_waits_for_signal(const struct wait_edge *edge)
{
	return edge && op_descriptions[edge->op].object == OBJECT_COND;
}

static bool engine_has_sent_signal(const struct wait_edge *edge)
{
	const void *address = (const void *)(uintptr_t)edge->object_address;

	return engine_waits_for_signal(edge) && engine.signal_history &&
	       engine.signal_history(address).was_sent;
}

/*
 * Classifies the failure by the wait-for graph, so that all schedules of one bug have one kind:
 *
 * - A cycle is a deadlock.
 * - A lock held by a thread that waits on a condition variable is a deadlock: the thread that wants
 *   the lock would signal.
 * - Otherwise a wait on a condition variable is a lost wake-up if a signal was ever sent: the
 *   signal came before the wait, or woke another thread.
 */
static enum outcome_kind engine_classify_waits(struct outcome *outcome)
{
	bool has_lost = false;
	bool is_deadlock = false;

	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		const struct wait_edge *edge = &outcome->waits[i];

		if (thread_same(edge->holder, edge->waiter))
			return OUTCOME_SELF_DEADLOCK;
		is_deadlock |= edge->is_on_cycle;
		is_deadlock |= edge->op != OP_THREAD_JOIN &&
			       engine_waits_for_signal(engine_edge_of(outcome, edge->holder));
		has_lost |= engine_has_sent_signal(edge);
	}
	return has_lost && !is_deadlock ? OUTCOME_LOST_WAKEUP : OUTCOME_DEADLOCK;
}

static void engine_end(struct outcome *outcome)
{
	engine_settle();
	outcome->step = engine.step;
	outcome->clock_ns = engine.clock_ns;
	engine.is_ending = true;
	engine.host.run_over(outcome);
}

/* A forked child reports to no command; its outcome is stored here. Written once, at the end of the
 * run. */
static struct outcome private_outcome;

const struct outcome *engine_private_outcome(void)
{
	return &private_outcome;
}

static struct outcome *engine_outcome(void)
{
	return engine.run.outcome ? engine.run.outcome : &private_outcome;
}

void engine_set_stuck(struct outcome *outcome)
{
	outcome->kind = (uint16_t)engine_classify_waits(outcome);
	outcome->code = 0;
	outcome->other_site = 0;
	if (!outcome->wait_count)
		return;
	if (!engine_blocked_op(engine.current)) /* the thread has ended, or is a watchdog */
		outcome->thread = outcome->waits[0].waiter;
	outcome->site = outcome->waits[0].site;
	outcome->address = outcome->waits[0].object_address;
}

void engine_stuck(void)
{
	struct outcome *outcome = engine_outcome();

	outcome_set(outcome, OUTCOME_DEADLOCK, engine.current->id, 0);
	engine_collect_waits(outcome);
	engine_set_stuck(outcome);
	engine_end(outcome);
	__builtin_unreachable();
}

static bool engine_is_tolerated(enum outcome_kind kind)
{
	return engine.run.tolerated >> kind & 1 || !engine.run.outcome || engine.is_ending;
}

static void engine_fail_at(struct outcome *outcome, const void *address, uint64_t site)
{
	outcome->address = (uint64_t)(uintptr_t)address;
	outcome->site = site;
	engine_collect_waits(outcome);
	engine_end(outcome);
}

void engine_fail(enum outcome_kind kind, const void *address, uint64_t site)
{
	struct outcome *outcome = engine_outcome();

	if (engine_is_tolerated(kind))
		return;
	outcome_set(outcome, kind, engine.current->id, 0);
	engine_fail_at(outcome, address, site);
}

void engine_fail_at_lock(
	enum outcome_kind kind, enum op_kind acquire, const void *address, uint64_t site)
{
	engine_holder *holder = engine.holders[op_descriptions[acquire].object];
	struct outcome *outcome = engine_outcome();

	if (engine_is_tolerated(kind))
		return;
	outcome_set(outcome, kind, engine.current->id, 0);
	outcome->op = (uint8_t)acquire;
	if (holder)
		outcome->other_thread = holder(address, &outcome->other_site);
	engine_fail_at(outcome, address, site);
}

void engine_fail_by_verdict(const struct outcome *verdict)
{
	struct outcome *outcome = engine_outcome();
	enum outcome_kind kind = (enum outcome_kind)verdict->kind;

	if (engine_is_tolerated(kind))
		return;
	outcome_set(outcome, kind, engine.current->id, 0);
	outcome->address = verdict->address;
	outcome->site = verdict->site;
	outcome->op = verdict->op;
	outcome->other_op = verdict->other_op;
	outcome->other_site = verdict->other_site;
	outcome->other_step = verdict->other_step;
	outcome->other_thread = verdict->other_thread;
	engine_end(outcome);
}

void engine_exited(int status)
{
	struct outcome *outcome = engine_outcome();

	outcome_set(outcome, status ? OUTCOME_EXIT : OUTCOME_PASSED, engine.current->id, status);
	if (status)
		engine_blame_blocked(outcome);
	engine_end(outcome);
	__builtin_unreachable();
}
