/* Fairness: restricts the enabled threads that are offered to the strategy. Threads that cannot
 * make progress by themselves are delayed. */
#include "engine/engine.h"
#include "engine/engine_internal.h"

/* A strategy may schedule other threads for ever before the one that would end their loop. The
 * limit is this many busy periods (clock.c) in which some thread was always enabled. After that, the
 * enabled threads that did not run during a period run first, up to FAIRNESS_SLICE steps each. */
#define FAIRNESS_PERIODS 8
#define FAIRNESS_SLICE 64

void engine_use_slice(struct engine_thread *thread)
{
	if (!thread->slice || --thread->slice)
		return;
	bitset_remove(engine.starved, thread->id.index);
	if (!--engine.slice_count)
		engine.yielder_count--;
}

void engine_end_slice(struct engine_thread *thread)
{
	if (thread->slice)
		thread->slice = 1;
	engine_use_slice(thread);
}

void engine_drop_slices(void)
{
	if (!engine.slice_count)
		return;
	bitset_each (i, engine.starved, engine.thread_count) {
		engine_end_slice(&engine.threads[i]);
	}
}

void engine_favour_starved(void)
{
	engine_drop_slices();
	if (engine.period_count < FAIRNESS_PERIODS)
		return;
	bitset_each (i, engine.was_enabled, engine.thread_count) {
		struct engine_thread *thread = &engine.threads[i];

		if (thread == engine.current || thread->last_moved > engine.period_begin)
			continue;
		thread->slice = FAIRNESS_SLICE;
		bitset_add(engine.starved, i);
		engine.yielder_count += !engine.slice_count++;
	}
}

/* Offers only the starved threads. A schedule that is followed decides alone, without this. */
static void fairness_offer_starved(void)
{
	const uint32_t words = BITSET_WORDS(engine.thread_count);
	uint32_t count = 0;

	for (uint32_t word = 0; word < words; word++)
		count +=
			(uint32_t)__builtin_popcountll(engine.enabled[word] & engine.starved[word]);
	if (!count || engine_must_continue())
		return;
	engine.view.enabled_count = count;
	for (uint32_t word = 0; word < words; word++)
		engine.offered[word] = engine.enabled[word] & engine.starved[word];
}

/* A yield delays its thread until every enabled thread has moved: the fair scheduler of
 * Musuvathi and Qadeer (PLDI 2008). Deviation: the paper waits for the threads enabled at the
 * yield, this code for those enabled now, so one number per thread replaces a set. The offered
 * set is never empty: it contains the thread that has not moved for the longest time. */
static void fairness_delay(struct engine_thread *thread, uint64_t moved)
{
	engine_settle();
	engine_note_waiting(thread);
	engine_note_feature(FEATURE_YIELD);
	engine_end_slice(thread);
	if (!thread->yielded_at)
		engine.yielder_count++;
	thread->last_moved = moved;
	thread->yielded_at = moved + 1;
}

void engine_delay(struct engine_thread *thread)
{
	fairness_delay(thread, engine.step);
}

/* A spin point is no step. Threads that spin one after the other without a step in between are
 * delayed in that order; else the last one would run for ever. */
void engine_delay_spinner(struct engine_thread *thread)
{
	engine_forget_spins();
	engine.spun_at = engine.step;
	fairness_delay(thread, engine.step + 1 + engine.spin_count++);
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

/* The paper counts every k-th yield; here all yields after the first free_yields count. */
void engine_delay_yielder(struct engine_thread *thread)
{
	if (engine_yields_freely())
		thread->free_yields_made++;
	else
		engine_delay(thread);
}

static void fairness_offer_highest(void)
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

/* Removes the threads whose yield still delays them from the offered threads. */
static void fairness_remove_yielders(void)
{
	uint64_t oldest = UINT64_MAX;
	const uint32_t count = engine.thread_count;

	engine_forget_spins();
	bitset_each (i, engine.enabled, count) {
		if (engine.threads[i].last_moved < oldest)
			oldest = engine.threads[i].last_moved;
	}
	bitset_each (i, engine.enabled, count) {
		if (engine.threads[i].yielded_at > oldest + 1) {
			bitset_remove(engine.offered, i);
			engine.view.enabled_count--;
		}
	}
}

void engine_restrict_offer(void)
{
	const uint32_t others = (uint32_t)engine.follows_priorities + (engine.slice_count != 0);

	engine.view.enabled = engine.offered;
	for (uint32_t word = 0; word < BITSET_WORDS(engine.thread_count); word++)
		engine.offered[word] = engine.enabled[word];
	if (engine.yielder_count > others)
		fairness_remove_yielders();
	if (engine.slice_count)
		fairness_offer_starved();
	if (engine.follows_priorities)
		fairness_offer_highest();
}

void engine_delay_current(void)
{
	if (engine.is_live)
		engine_delay(engine.current);
}

void engine_delay_repeating(void)
{
	if (engine.is_live)
		engine_delay_yielder(engine.current);
}

/* Consecutive failed tries at one object; each further one counts as a yield. */
#define TRIES_BEFORE_YIELD 2
/* The same at any objects, as in a loop that polls many objects in turn. */
#define TRIES_IN_ROW_BEFORE_YIELD 8

void engine_unproductive(void)
{
	struct engine_thread *self = engine.current;

	engine_failed();
	engine_note_failed_try(self);
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
		engine_delay(self);
		engine_clock_note_poll();
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
	self->last_site = op->site;
}

void engine_spin_point(uint64_t site)
{
	struct engine_op op = {.kind = OP_SPIN, .site = site, .deadline_ns = ENGINE_FOREVER};

	engine_evaluate_changed();
	if (engine.is_live && !engine.is_ending)
		engine_clock_note_spin();
	if (engine.is_live && engine.enabled_count && !engine.is_ending)
		(void)engine_perform(&op);
}

bool engine_must_continue(void)
{
	const struct strategy *strategy = engine.run.strategy;

	engine_update_view();
	return strategy && strategy->fast_path.must_continue &&
	       strategy->fast_path.must_continue(engine.run.strategy_state, &engine.view);
}

bool engine_has_woken(void)
{
	engine_evaluate_changed();
	return engine.has_woken;
}
