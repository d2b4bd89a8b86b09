/* Fairness: restricts the enabled threads that are offered to the strategy. Threads that cannot
 * make progress by themselves are delayed. */
#include "engine/engine.h"
#include "engine/engine_internal.h"

/*
 * A yield delays its thread until every enabled thread has moved. This is the fair scheduler of
 * Musuvathi and Qadeer (PLDI 2008) with one change: the paper waits for the threads enabled at the
 * yield, this code for those enabled now. One number per thread then replaces a set. The offered
 * set is never empty: it contains the thread that has not moved for the longest time.
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
 * A spin point is no step, so other threads may not have moved since. Threads that spin one after
 * the other, with no step between, are delayed in that order; else the last one would run for ever.
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

/* The paper counts every k-th yield; here the first free_yields yields are free, and all later ones
 * count. */
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

/* Consecutive failed tries at one object; each further one counts as a yield. */
#define TRIES_BEFORE_YIELD 2
/* Consecutive failed tries at any objects, as in a loop that polls many objects in turn. */
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
 * A spinning thread has computed for at least 20 ms. Virtual time passes as for SPIN_STEPS steps.
 * Otherwise two threads that spin in turn would make one step in 20 ms, and no sleep would end.
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
	return strategy && strategy->fast_path.must_continue &&
	       strategy->fast_path.must_continue(engine.run.strategy_state, &engine.view);
}

bool engine_has_woken(void)
{
	engine_look();
	return engine.has_woken;
}
