/* Who may be chosen among those who could move: threads that cannot get on by themselves stand back. */
#include "engine/engine.h"
#include "engine/engine_internal.h"

/*
 * A yield holds its thread back until every thread that is enabled has moved since: the fair
 * scheduler of Musuvathi and Qadeer (PLDI 2008), with "was enabled at the yield" widened to "is
 * enabled now", which needs one number per thread instead of a set. The set offered is never empty:
 * the thread that has not moved for longest is in it.
 */
static void hold_back(struct engine_thread *thread, uint64_t moved)
{
	engine_settle();
	if (!thread->yielded_at)
		engine.yielder_count++;
	thread->last_moved = moved;
	thread->yielded_at = moved + 1;
}

void engine_hold_back(struct engine_thread *thread)
{
	hold_back(thread, engine.step);
}

/*
 * A spin is no step, so who made the last one has not moved since. Those who spin one after the other, with no step between,
 * stand back in that order, or the last one would go on for ever.
 */
void engine_hold_back_spinner(struct engine_thread *thread)
{
	engine_forget_spins();
	engine.spun_at = engine.step;
	hold_back(thread, engine.step + 1 + engine.spin_count++);
}

void engine_forget_spins(void)
{
	if (!engine.spin_count || engine.spun_at == engine.step)
		return;
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		struct engine_thread *thread = &engine.threads[i];

		if (!thread->yielded_at || thread->last_moved <= engine.spun_at + 1)
			continue;
		thread->last_moved = engine.spun_at + 1;
		thread->yielded_at = engine.spun_at + 2;
	}
	engine.spin_count = 0;
}

bool engine_yields_freely(void)
{
	return engine.current->free_yields_made < engine.run.free_yields;
}

/* The paper's every k-th yield, with the difference that behind the first few all count. */
void engine_hold_back_yielder(struct engine_thread *thread)
{
	if (engine_yields_freely())
		thread->free_yields_made++;
	else
		engine_hold_back(thread);
}

/* Removes every offered thread whose priority is not the highest. */
static void offer_highest(void)
{
	uint8_t highest = 0;

	bitset_each (i, engine.offered, engine.thread_count) {
		if (engine.threads[i].priority > highest)
			highest = engine.threads[i].priority;
	}
	bitset_each (i, engine.offered, engine.thread_count) {
		if (engine.threads[i].priority == highest)
			continue;
		bitset_remove(engine.offered, i);
		engine.view.enabled_count--;
	}
}

void engine_offer(void)
{
	uint64_t oldest = UINT64_MAX;
	uint32_t count = engine.thread_count;

	if (!engine.yielder_count) {
		engine.view.enabled = engine.enabled;
		engine.view.enabled_count = engine.enabled_count;
		return;
	}
	engine_forget_spins();
	bitset_each (i, engine.enabled, count) {
		if (engine.threads[i].last_moved < oldest)
			oldest = engine.threads[i].last_moved;
	}
	engine.view.enabled = engine.offered;
	engine.view.enabled_count = 0;
	for (uint32_t word = 0; word < BITSET_WORDS(count); word++)
		engine.offered[word] = engine.enabled[word];
	bitset_each (i, engine.enabled, count) {
		if (engine.threads[i].yielded_at > oldest + 1)
			bitset_remove(engine.offered, i);
		else
			engine.view.enabled_count++;
	}
	if (engine.follows_priorities)
		offer_highest();
}

void engine_give_way(void)
{
	if (engine.is_live)
		engine_hold_back(engine.current);
}

/* Failed tries at one object with no success between: from the third on, each counts as a yield. */
#define TRIES_BEFORE_YIELD 2
/* Failed tries at whatever objects with nothing else between: a loop that looks at many in turn. */
#define TRIES_IN_ROW_BEFORE_YIELD 8

void engine_unproductive(void)
{
	struct engine_thread *self = engine.current;

	engine_failed();
	if (self->last_address != self->failed_address)
		self->unproductive_count = 0;
	self->failed_address = self->last_address;
	self->was_unproductive = true;
	if (self->unproductive_count < UINT8_MAX)
		self->unproductive_count++;
	if (self->tries_in_row < UINT8_MAX)
		self->tries_in_row++;
	if (engine.is_live && (self->unproductive_count > TRIES_BEFORE_YIELD ||
				      self->tries_in_row > TRIES_IN_ROW_BEFORE_YIELD)) {
		engine_hold_back(self);
		engine_clock_wait_for_nothing();
	}
}

void engine_note_op(struct engine_thread *self, const struct engine_op *op)
{
	if (!self->was_unproductive && self->failed_address &&
		self->last_address == self->failed_address)
		self->unproductive_count = 0;
	if (!self->was_unproductive)
		self->tries_in_row = 0;
	self->was_unproductive = false;
	self->last_address = op->address;
}

/*
 * A spinning thread has computed for 20 ms at least. Virtual time passes as for the steps of a loop with scheduling
 * points, since two threads that spin in turn would otherwise make one step in 20 ms, and no sleep would end.
 */
#define SPIN_STEPS 4096

void engine_spin_point(uint64_t site)
{
	struct engine_op op = {.kind = OP_SPIN, .site = site, .deadline_ns = ENGINE_FOREVER};

	engine_look();
	if (engine.is_live && !engine.is_ending) {
		engine_clock_wait_for_sleepers();
		engine_clock_note_calls(SPIN_STEPS);
	}
	if (engine.is_live && engine.enabled_count && !engine.is_ending)
		(void)engine_perform(&op); /* always WAIT_DONE */
}

bool engine_is_to_go_on(void)
{
	const struct strategy *strategy = engine.run.strategy;

	engine.view.thread_count = engine.thread_count;
	engine.view.current = engine.current->id;
	engine.view.step = engine.step;
	return strategy && strategy->insists &&
	       strategy->insists(engine.run.strategy_state, &engine.view);
}

bool engine_has_woken(void)
{
	engine_look();
	return engine.has_woken;
}
