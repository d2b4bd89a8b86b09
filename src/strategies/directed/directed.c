/*
 * Strategy `directed` drives threads to a predicted violation; see directed.h. It chooses uniformly
 * among the threads that are not stopped.
 *
 * Joshi, Park, Sen, Naik, "A Randomized Dynamic Program Analysis Technique for Detecting Real
 * Deadlocks", PLDI 2009, section 3 (pausing before the inner acquisition, thrashing). Here the
 * method is generalised from deadlocks to rendezvous at any operations, as RaceFuzzer and AssetFuzzer
 * need them. Deviations: the order after the rendezvous is given; a released thread is released for
 * one operation only.
 */
#include "strategies/directed/directed.h"

#include "strategies/strategy.h"

#define HELD_MOST 8
#define NOBODY UINT16_MAX
/* Number of steps that a thread may take from its approach to its stop; usually a few suffice. */
#define APPROACH_PATIENCE 1000

static void directed_clear_candidates(struct directed_state *directed)
{
	directed->has_gathered = false;
	directed->next = directed->stop_count;
	directed->taken = 0;
	for (uint32_t i = 0; i < directed->stop_count; i++)
		directed->stopped_at[i] = NOBODY;
	for (uint32_t i = 0; i < BITSET_WORDS(THREAD_CAPACITY); i++)
		directed->is_stopped[i] = 0;
}

static void directed_start_over(struct directed_state *directed)
{
	directed_clear_candidates(directed);
	directed->is_approaching = directed->by_approach;
}

static void directed_begin_run(void *state, uint64_t seed)
{
	struct directed_state *directed = state;

	rng_seed(&directed->rng, seed);
	for (uint32_t i = 0; i < directed->order_count; i++)
		directed_order_begin_run(&directed->orders[i], &directed->rng);
	directed_scenario_begin_run(&directed->scenario, &directed->rng);
	directed->width = (uint8_t)(directed->is_ring ? directed->runs % DIRECTED_WIDTHS : 0);
	directed->by_approach = directed->is_ring && directed->runs / DIRECTED_WIDTHS % 2;
	directed_orders_relate(directed->orders, directed->order_count);
	directed->runs++;
	directed->had_gathered = false;
	directed->arrived = 0;
	directed_start_over(directed);
	directed->has_gathered = directed->stop_count == 0;
	for (uint32_t i = 0; i < BITSET_WORDS(THREAD_CAPACITY); i++)
		directed->is_let_on[i] = directed->is_returning[i] = 0;
	for (uint32_t i = 0; i < THREAD_CAPACITY; i++)
		directed->held_count[i] = 0;
}

static bool directed_holds(
	const struct directed_state *directed, uint32_t thread, object_name object)
{
	for (uint8_t i = 0; i < directed->held_count[thread]; i++)
		if (directed->held[thread][i] == object)
			return true;
	return false;
}

static bool directed_is_waited_for(const struct directed_state *directed,
	const struct schedule_view *view, uint32_t waiter, uint32_t holder)
{
	const struct pending_op *op = &view->pending[waiter];

	/* A live thread implicitly holds its own end, which the held locks do not show. */
	return op->kind == OP_THREAD_JOIN || directed_holds(directed, holder, op->object);
}

/* Returns whether the ring can still close with the threads that have already stopped. */
static bool directed_fits_ring(const struct directed_state *directed,
	const struct schedule_view *view, uint32_t index, uint32_t thread)
{
	const uint32_t count = directed->stop_count;
	const uint16_t next = directed->stopped_at[(index + 1) % count];
	const uint16_t before = directed->stopped_at[(index + count - 1) % count];

	if (!directed->is_ring)
		return true;
	return (next == NOBODY || directed_is_waited_for(directed, view, thread, next)) &&
	       (before == NOBODY || directed_is_waited_for(directed, view, before, thread)) &&
	       (!directed->stops[index].held || directed->held_count[thread]);
}

/* Returns whether the thread is about to acquire the lock that it will hold at its stop. */
static bool directed_fits_approach(const struct directed_state *directed,
	const struct directed_stop *stop, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];

	return op->kind == stop->approach_kind && op->site == stop->approach_site &&
	       (directed->width >= DIRECTED_ANY_THREAD || !stop->thread ||
		       stop->thread == view->names[thread]) &&
	       (directed->width >= DIRECTED_ANY_OBJECT || stop->held == op->object);
}

static bool directed_fits_object(
	const struct directed_state *directed, const struct schedule_view *view, uint32_t thread)
{
	for (uint32_t i = 0; directed->shares_object && i < directed->stop_count; i++) {
		const uint16_t other = directed->stopped_at[i];

		if (other != NOBODY && other < view->thread_count &&
			view->pending[other].object != view->pending[thread].object)
			return false;
	}
	return true;
}

static bool directed_fits(const struct directed_state *directed, const struct schedule_view *view,
	uint32_t index, uint32_t thread)
{
	const struct directed_stop *stop = &directed->stops[index];
	const struct pending_op *op = &view->pending[thread];

	if (directed->is_approaching && stop->approach_site)
		return directed_fits_approach(directed, stop, view, thread);
	if (directed->by_approach && !directed->is_approaching && directed->gone[index] != thread)
		return false;
	if ((stop->kind && stop->kind != op->kind) || (stop->site && stop->site != op->site))
		return false;
	if (directed->width < DIRECTED_ANY_THREAD && stop->thread &&
		stop->thread != view->names[thread])
		return false;
	if (directed->width < DIRECTED_ANY_OBJECT &&
		((stop->object && stop->object != op->object) ||
			(stop->held && !directed_holds(directed, thread, stop->held))))
		return false;
	if (!directed_fits_object(directed, view, thread))
		return false;
	return directed->is_approaching || directed_fits_ring(directed, view, index, thread);
}

static void directed_stop(
	struct directed_state *directed, const struct schedule_view *view, uint32_t thread)
{
	for (uint32_t i = 0; i < directed->stop_count; i++) {
		if (directed->stopped_at[i] != NOBODY || !directed_fits(directed, view, i, thread))
			continue;
		directed->stopped_at[i] = (uint16_t)thread;
		directed->stopped_since[i] = view->step;
		bitset_add(directed->is_stopped, thread);
		directed->taken++;
		if (directed->is_approaching && directed->stops[i].approach_site)
			return;
		if (!(directed->arrived >> i & 1))
			directed->arrivals[i]++;
		directed->arrived |= 1u << i;
		return;
	}
}

static void directed_free(struct directed_state *directed, uint32_t thread)
{
	bitset_remove(directed->is_stopped, thread);
	for (uint32_t i = 0; i < directed->stop_count; i++) {
		if (directed->stopped_at[i] == thread) {
			directed->stopped_at[i] = NOBODY;
			directed->taken--;
		}
	}
}

static void directed_leave_approaches(
	struct directed_state *directed, const struct schedule_view *view)
{
	for (uint32_t i = 0; i < directed->stop_count; i++) {
		directed->gone[i] = directed->stopped_at[i];
		if (directed->stops[i].approach_site)
			bitset_add(directed->is_let_on, directed->gone[i]);
	}
	directed_clear_candidates(directed);
	directed->is_approaching = false;
	directed->gone_since = view->step;
}

/* Stops threads at matching stops. A disabled thread can stop, too: it stays there when it becomes
 * enabled. */
static void directed_look(struct directed_state *directed, const struct schedule_view *view)
{
	for (uint32_t thread = 0; thread < view->thread_count; thread++)
		if (view->pending[thread].kind != OP_NONE &&
			!bitset_has(directed->is_stopped, thread) &&
			!bitset_has(directed->is_let_on, thread))
			directed_stop(directed, view, thread);
	if (directed->taken < directed->stop_count)
		return;
	if (directed->is_approaching) {
		directed_leave_approaches(directed, view);
		return;
	}
	directed->has_gathered = true;
	directed->rendezvous += !directed->had_gathered;
	directed->had_gathered = true;
	directed->next = directed->shares_object ? directed->stop_count : 0;
}

static void directed_lose_patience(
	struct directed_state *directed, const struct schedule_view *view)
{
	if (directed->by_approach && !directed->is_approaching &&
		view->step - directed->gone_since > APPROACH_PATIENCE)
		directed_start_over(directed);
	for (uint32_t i = 0; i < directed->stop_count; i++) {
		const uint16_t thread = directed->stopped_at[i];

		if (thread == NOBODY || view->step - directed->stopped_since[i] < DIRECTED_PATIENCE)
			continue;
		directed->thrashes++;
		directed_free(directed, thread);
		bitset_add(directed->is_let_on, thread);
	}
}

static bool directed_interleaves(
	const struct directed_state *directed, const struct schedule_view *view, uint32_t thread)
{
	for (uint32_t i = 0; i < directed->order_count; i++)
		if (directed_order_interleaves(&directed->orders[i], view, thread))
			return true;
	return false;
}

static struct thread_id directed_thrash(
	struct directed_state *directed, const struct schedule_view *view)
{
	struct thread_id chosen;
	uint32_t count = 0;

	/* A thread that must not begin an order is preferred to one that would violate it. */
	for (uint32_t thread = 0; thread < view->thread_count; thread++) {
		bitset_remove(directed->candidates, thread);
		if (!view_is_enabled(view, thread) || directed_interleaves(directed, view, thread))
			continue;
		bitset_add(directed->candidates, thread);
		count++;
	}
	chosen = count ? threads_draw(&directed->rng, directed->candidates, count)
		       : threads_draw(&directed->rng, view->enabled, view->enabled_count);
	directed->thrashes++;
	for (uint32_t i = 0; i < directed->order_count; i++)
		directed_order_learn(&directed->orders[i], view);
	directed_free(directed, chosen.index);
	bitset_add(directed->is_let_on, chosen.index);
	if (directed->by_approach && !directed->is_approaching)
		directed_start_over(directed);
	return chosen;
}

/* Returns whether another thread holds a lock for which a thread that begins this order would
 * wait. */
static bool directed_gate_is_taken(const struct directed_state *directed,
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread)
{
	for (uint32_t gate = 0; gate < order->gate_count; gate++)
		for (uint32_t other = 0; other < view->thread_count; other++)
			if (other != thread && directed_holds(directed, other, order->gates[gate]))
				return true;
	return false;
}

static bool directed_is_gated(const struct directed_state *directed,
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];

	if (!order->gate_count)
		return false;
	if (op->flags & OP_ACQUIRE && directed_order_has_gate(order, op->object) &&
		directed_order_is_open(order, view, thread))
		return true;
	return directed_order_begins(order, op) &&
	       directed_gate_is_taken(directed, order, view, thread);
}

static bool directed_is_held(
	const struct directed_state *directed, const struct schedule_view *view, uint32_t thread)
{
	for (uint32_t i = 0; i < directed->order_count; i++)
		if (directed_order_holds(directed->orders, i, view, thread) ||
			directed_is_gated(directed, &directed->orders[i], view, thread))
			return true;
	return directed_scenario_holds(&directed->scenario, view, thread);
}

/* Removes the threads that orders delay. Returns true if a particular thread must move now. */
static bool directed_follow_orders(
	struct directed_state *directed, const struct schedule_view *view, struct thread_id *chosen)
{
	struct thread_id favoured = THREAD_NONE;

	for (uint32_t thread = view_next_enabled(view, 0); thread < view->thread_count;
		thread = view_next_enabled(view, thread + 1)) {
		if (!bitset_has(directed->candidates, thread))
			continue;
		if (directed_is_held(directed, view, thread)) {
			directed_scenario_waits(&directed->scenario, view);
			bitset_remove(directed->candidates, thread);
			continue;
		}
		for (uint32_t i = 0; i < directed->order_count; i++) {
			if (!directed_order_wants(&directed->orders[i], view, thread))
				continue;
			*chosen = (struct thread_id){(uint16_t)thread};
			return true;
		}
		if (directed_scenario_wants(&directed->scenario, view, thread)) {
			*chosen = (struct thread_id){(uint16_t)thread};
			return true;
		}
		if (directed_scenario_favours(&directed->scenario, thread))
			favoured = (struct thread_id){(uint16_t)thread};
	}
	*chosen = favoured;
	return favoured.index != THREAD_NONE.index;
}

/* Moves threads that have left their approaches before all others. Returns false if none is
 * enabled. */
static bool directed_draw_gone(struct directed_state *directed, struct thread_id *chosen)
{
	uint32_t seen = 0;

	if (!directed->by_approach || directed->is_approaching)
		return false;
	for (uint32_t i = 0; i < directed->stop_count; i++)
		if (bitset_has(directed->candidates, directed->gone[i]) &&
			rng_below(&directed->rng, ++seen) == 0)
			*chosen = (struct thread_id){directed->gone[i]};
	return seen > 0;
}

/* If the scenario's parties must move alone, only parties remain candidates. */
static uint32_t directed_count_candidates(
	struct directed_state *directed, const struct schedule_view *view)
{
	const bool is_alone = directed_scenario_is_alone(&directed->scenario);
	uint64_t parties[BITSET_WORDS(THREAD_CAPACITY)];
	uint32_t count = 0, party_count = 0;

	for (uint32_t word = 0; word < BITSET_WORDS(view->thread_count); word++) {
		count += (uint32_t)__builtin_popcountll(directed->candidates[word]);
		parties[word] = 0;
	}
	for (uint32_t thread = view_next_enabled(view, 0); is_alone && thread < view->thread_count;
		thread = view_next_enabled(view, thread + 1)) {
		if (!bitset_has(directed->candidates, thread) ||
			directed_scenario_is_outsider(&directed->scenario, thread))
			continue;
		bitset_add(parties, thread);
		party_count++;
	}
	for (uint32_t word = 0; party_count && word < BITSET_WORDS(view->thread_count); word++)
		directed->candidates[word] = parties[word];
	return party_count ? party_count : count;
}

static struct thread_id directed_choose(void *state, const struct schedule_view *view)
{
	struct directed_state *directed = state;
	struct thread_id chosen = THREAD_NONE;
	uint32_t count = 0;

	if (!directed->has_gathered) {
		directed_lose_patience(directed, view);
		directed_look(directed, view);
	}
	while (directed->next < directed->stop_count) {
		const uint32_t thread = directed->stopped_at[directed->next++];

		if (view_is_enabled(view, thread))
			return (struct thread_id){(uint16_t)thread};
	}
	/* The rendezvous had no effect: in a closed ring no thread could continue. */
	if (directed->has_gathered && directed->is_ring)
		directed_start_over(directed);
	if (directed->has_gathered && !directed->order_count && !directed->scenario.op_count)
		return threads_draw(&directed->rng, view->enabled, view->enabled_count);
	for (uint32_t word = 0; word < BITSET_WORDS(view->thread_count); word++)
		directed->candidates[word] =
			view->enabled[word] &
			~(directed->has_gathered ? 0 : directed->is_stopped[word]);
	if (directed_follow_orders(directed, view, &chosen) ||
		directed_draw_gone(directed, &chosen))
		return chosen;
	count = directed_count_candidates(directed, view);
	if (!count)
		return directed_thrash(directed, view);
	return threads_draw(&directed->rng, directed->candidates, count);
}

/* Returns whether the acquisition fails because another thread holds the lock (failed try or
 * time-out). */
static bool directed_fails(const struct directed_state *directed, const struct schedule_view *view,
	uint32_t thread, const struct pending_op *op)
{
	if (op->flags & OP_READ)
		return false;
	for (uint32_t other = 0; other < view->thread_count; other++)
		if (other != thread && !bitset_has(directed->is_returning, other) &&
			directed_holds(directed, other, op->object))
			return true;
	return false;
}

/* A thread in a condition wait holds the mutex throughout: it makes no other op. */
static void directed_note_lock(struct directed_state *directed, const struct schedule_view *view,
	uint32_t thread, const struct pending_op *op)
{
	uint8_t *count = &directed->held_count[thread];
	object_name *held = directed->held[thread];
	const bool is_return = op->kind == OP_MUTEX_LOCK &&
			       bitset_has(directed->is_returning, thread) &&
			       directed_holds(directed, thread, op->object);

	if (op->kind == OP_COND_WAIT)
		bitset_add(directed->is_returning, thread);
	else if (op->kind != OP_COND_WAKE)
		bitset_remove(directed->is_returning, thread);
	if (op->flags & OP_ACQUIRE && op->kind != OP_COND_WAKE && !is_return &&
		*count < HELD_MOST && !directed_fails(directed, view, thread, op))
		held[(*count)++] = op->object;
	for (uint8_t i = *count; op->flags & OP_RELEASE && i-- > 0;) {
		if (held[i] != op->object)
			continue;
		for (--*count; i < *count; i++)
			held[i] = held[i + 1];
		break;
	}
}

static void directed_executed(
	void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct directed_state *directed = state;

	for (uint32_t i = 0; i < directed->order_count; i++)
		directed_order_executed(&directed->orders[i], view, thread.index);
	directed_scenario_executed(&directed->scenario, view, thread.index);
	bitset_remove(directed->is_let_on, thread.index);
	if (bitset_has(directed->is_stopped, thread.index))
		directed_free(directed, thread.index);
	if (directed->stop_count || directed->order_count)
		directed_note_lock(directed, view, thread.index, &view->pending[thread.index]);
}

const struct strategy strategy_directed = {
	.name = "directed",
	.summary = "drives threads to predicted operations (used by raddle predict and explain)",
	.state_bytes = sizeof(struct directed_state),
	.begin_run = directed_begin_run,
	.choose = directed_choose,
	.executed = directed_executed,
};
