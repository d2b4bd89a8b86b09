/* The end of a run in failure: the wait-for graph and its classification. */
#include "base/text.h"
#include "engine/engine.h"
#include "engine/engine_internal.h"
#include "engine/sync.h"

static struct thread_id evidence_lock_holder(
	enum object_class class, const void *address, uint64_t *site)
{
	*site = 0;
	switch (class) {
	case OBJECT_MUTEX:
		return mutex_holder(address, site);
	case OBJECT_RWLOCK:
		return rwlock_holder(address, site);
	case OBJECT_SPIN:
		return spin_holder(address, site);
	case OBJECT_ONCE:
		return once_holder(address);
	case OBJECT_FILE:
		return stream_lock_holder(address);
	default:
		return THREAD_NONE;
	}
}

static struct thread_id evidence_holder(const struct engine_op *op, uint64_t *site)
{
	*site = 0;
	return op->kind == OP_THREAD_JOIN
		       ? ((const struct engine_thread *)op->address)->id
		       : evidence_lock_holder(op_descriptions[op->kind].object, op->address, site);
}

static const struct cond *evidence_cond(enum op_kind kind, const void *address)
{
	return op_descriptions[kind].object == OBJECT_COND ? address : NULL;
}

static void evidence_collect_wait(struct outcome *outcome, const struct engine_thread *thread)
{
	const struct engine_op *op = engine_blocked_op(thread);
	const struct cond *cond = evidence_cond(op->kind, op->address);
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
	edge->is_in_handler = thread->interrupted != NULL;
	edge->lost_signals = 0;
	edge->object = thread->op    ? engine.pending[thread->id.index].object
		       : op->address ? engine_object_name(op->address)
				     : 0;
	edge->object_address = (uint64_t)(uintptr_t)op->address;
	edge->site = op->site;
	edge->holder = evidence_holder(op, &edge->holder_site);
	if (cond)
		edge->lost_signals = cond_lost_signals(cond);
}

/* Each thread waits for at most one other: follows the holders from each edge until they repeat. */
static void evidence_mark_cycles(struct outcome *outcome)
{
	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		struct wait_edge *start = &outcome->waits[i];
		struct wait_edge *edge = start;

		for (uint32_t hops = 0; edge && hops <= outcome->wait_count; hops++) {
			edge = outcome_wait_of(outcome, edge->holder);
			if (edge == start) {
				start->is_on_cycle = 1;
				break;
			}
		}
	}
}

void engine_collect_waits(struct outcome *outcome)
{
	engine_evaluate_changed();
	outcome->wait_count = outcome->waits_left_out = 0;
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		const struct engine_thread *thread = &engine.threads[i];

		if (engine_blocked_op(thread))
			evidence_collect_wait(outcome, thread);
	}
	evidence_mark_cycles(outcome);
}

/* Returns the thread that `thread` waits for without a limit; NULL if there is none. */
static const struct engine_thread *evidence_awaited_thread(const struct engine_thread *thread)
{
	const struct engine_op *op = engine_blocked_op(thread);
	struct thread_id holder;
	uint64_t site;

	if (!op || op->deadline_ns != ENGINE_FOREVER || op->is_shared)
		return NULL;
	holder = evidence_holder(op, &site);
	return holder.index < engine.thread_count ? &engine.threads[holder.index] : NULL;
}

bool engine_has_cycle(void)
{
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		const struct engine_thread *start = &engine.threads[i];
		const struct engine_thread *thread = start;

		for (uint32_t hops = 0; thread && hops < engine.thread_count; hops++) {
			thread = evidence_awaited_thread(thread);
			if (thread == start)
				return true;
		}
	}
	return false;
}

static const struct cond *evidence_awaited_cond(const struct wait_edge *edge)
{
	return edge ? evidence_cond(edge->op, (const void *)(uintptr_t)edge->object_address) : NULL;
}

/*
 * Classifies the failure by the wait-for graph, so that all schedules of one bug have one kind:
 *
 * - A cycle is a deadlock.
 * - A lock held by a thread that waits on a condition variable is a deadlock: the thread that wants
 *   the lock would signal.
 * - Otherwise a wait on a condition variable is a lost wake-up if a signal was ever sent: the
 * signal preceded the wait, or woke another thread.
 * - Otherwise a thread that waits in a loop for memory to change makes it a livelock.
 */
static enum outcome_kind evidence_classify_waits(struct outcome *outcome)
{
	bool has_lost = false;
	bool is_deadlock = false;

	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		const struct wait_edge *edge = &outcome->waits[i];
		const struct cond *cond = evidence_awaited_cond(edge);

		if (thread_same(edge->holder, edge->waiter))
			return OUTCOME_SELF_DEADLOCK;
		is_deadlock |= edge->is_on_cycle;
		is_deadlock |= edge->op != OP_THREAD_JOIN &&
			       evidence_awaited_cond(outcome_wait_of(outcome, edge->holder));
		has_lost |= cond && cond_was_signalled(cond);
	}
	if (has_lost && !is_deadlock)
		return OUTCOME_LOST_WAKEUP;
	return is_deadlock || !engine.awaiting_count ? OUTCOME_DEADLOCK : OUTCOME_LIVELOCK;
}

static void evidence_end(struct outcome *outcome)
{
	engine_settle();
	outcome->step = engine.step;
	outcome->clock_ns = engine.clock_ns;
	engine.is_ending = true;
	engine.host.run_over(outcome);
}

/* Outcome of a forked child, which reports to no command. Written once, at the end of the run. */
static struct outcome private_outcome;

const struct outcome *engine_private_outcome(void)
{
	return &private_outcome;
}

static struct outcome *evidence_outcome(void)
{
	return engine.run.outcome ? engine.run.outcome : &private_outcome;
}

void engine_set_stuck(struct outcome *outcome)
{
	outcome->kind = (uint16_t)evidence_classify_waits(outcome);
	outcome->code = 0;
	outcome->other_site = 0;
	if (!outcome->wait_count)
		return;
	if (!engine_blocked_op(engine.current)) /* the current thread has ended, or is a watchdog */
		outcome->thread = outcome->waits[0].waiter;
	outcome->site = outcome->waits[0].site;
	outcome->address = outcome->waits[0].object_address;
}

void engine_stuck(void)
{
	struct outcome *outcome = evidence_outcome();

	outcome_set(outcome, OUTCOME_DEADLOCK, engine.current->id, 0);
	engine_collect_waits(outcome);
	engine_set_stuck(outcome);
	evidence_end(outcome);
	__builtin_unreachable();
}

static bool evidence_is_tolerated(enum outcome_kind kind)
{
	return engine.run.tolerated >> kind & 1 || !engine.run.outcome || engine.is_ending;
}

static void evidence_fail_at(struct outcome *outcome, const void *address, uint64_t site)
{
	outcome->address = (uint64_t)(uintptr_t)address;
	outcome->site = site;
	engine_collect_waits(outcome);
	evidence_end(outcome);
}

void engine_fail(enum outcome_kind kind, const void *address, uint64_t site)
{
	struct outcome *outcome = evidence_outcome();

	if (evidence_is_tolerated(kind))
		return;
	outcome_set(outcome, kind, engine.current->id, 0);
	evidence_fail_at(outcome, address, site);
}

void engine_fail_because(enum outcome_kind kind, uint64_t site, const char *why)
{
	struct text text;

	if (evidence_is_tolerated(kind))
		return;
	outcome_set(engine.run.outcome, kind, engine.current->id, 0);
	text_init(&text, engine.run.outcome->text, sizeof engine.run.outcome->text);
	text_add(&text, why);
	evidence_fail_at(engine.run.outcome, NULL, site);
}

void engine_fail_at_lock(
	enum outcome_kind kind, enum op_kind acquire, const void *address, uint64_t site)
{
	struct outcome *outcome = evidence_outcome();

	if (evidence_is_tolerated(kind))
		return;
	outcome_set(outcome, kind, engine.current->id, 0);
	outcome->op = (uint8_t)acquire;
	outcome->other_thread = evidence_lock_holder(
		op_descriptions[acquire].object, address, &outcome->other_site);
	evidence_fail_at(outcome, address, site);
}

void engine_fail_by_verdict(const struct outcome *verdict)
{
	struct outcome *outcome = evidence_outcome();
	enum outcome_kind kind = (enum outcome_kind)verdict->kind;

	if (evidence_is_tolerated(kind))
		return;
	outcome_set(outcome, kind, engine.current->id, verdict->code);
	outcome->address = verdict->address;
	outcome->site = verdict->site;
	outcome->op = verdict->op;
	outcome->other_op = verdict->other_op;
	outcome->other_site = verdict->other_site;
	outcome->other_step = verdict->other_step;
	outcome->other_thread = verdict->other_thread;
	evidence_end(outcome);
}

void engine_exited(int status)
{
	struct outcome *outcome = evidence_outcome();

	outcome_set(outcome, status ? OUTCOME_EXIT : OUTCOME_PASSED, engine.current->id, status);
	if (status)
		engine_blame_blocked(outcome);
	evidence_end(outcome);
	__builtin_unreachable();
}
