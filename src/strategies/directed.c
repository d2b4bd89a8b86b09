/*
 * Strategy `directed`: drives threads to a predicted violation; directed.h says how. It chooses at
 * random (uniformly) among the threads that are not stopped.
 *
 * Joshi, Park, Sen, Naik, "A Randomized Dynamic Program Analysis Technique for Detecting Real
 * Deadlocks", PLDI 2009, section 3 (pausing before the inner acquisition, thrashing), generalised from
 * deadlocks to meetings at any operations, as RaceFuzzer and AssetFuzzer need them. Deviations: the
 * order after the meeting is given; a thread that was let on is let on for one operation, not for good.
 */
#include "strategies/directed.h"

#include "strategies/strategy.h"

#define HELD_MOST 8
#define NOBODY UINT16_MAX
#define SKIPPED_MOST 6

void directed_state_init(
	struct directed_state *state, const struct directed_place *places, uint32_t place_count)
{
	state->place_count = place_count > DIRECTED_PLACES_MAX ? DIRECTED_PLACES_MAX : place_count;
	for (uint32_t i = 0; i < state->place_count; i++)
		state->places[i] = places[i];
}

void directed_state_set_orders(
	struct directed_state *state, const struct directed_order *orders, uint32_t order_count)
{
	state->order_count = order_count > DIRECTED_ORDERS_MAX ? DIRECTED_ORDERS_MAX : order_count;
	for (uint32_t i = 0; i < state->order_count; i++)
		state->orders[i] = orders[i];
}

static size_t directed_state_bytes(const struct strategy_config *config)
{
	(void)config; /* no options */
	return sizeof(struct directed_state);
}

static void directed_begin_campaign(void *state, const struct strategy_config *config)
{
	(void)state; /* without places it is a random walk; whoever directs fills it */
	(void)config;
}

/* Half of the runs begin an order with the first access that fits, a quarter with the second, ... */
static uint32_t directed_draw_skipped(struct directed_state *directed)
{
	uint32_t skipped = 0;

	while (skipped < SKIPPED_MOST && rng_below(&directed->rng, 2))
		skipped++;
	return skipped;
}

static void directed_begin_run(void *state, uint64_t seed)
{
	struct directed_state *directed = state;

	rng_seed(&directed->rng, seed);
	for (uint32_t i = 0; i < directed->order_count; i++)
		directed_order_begin_run(&directed->orders[i], directed_draw_skipped(directed));
	directed->runs++;
	directed->has_met = directed->place_count == 0;
	directed->next = directed->place_count;
	directed->taken = 0;
	directed->arrived = 0;
	for (uint32_t i = 0; i < directed->place_count; i++)
		directed->stopped_at[i] = NOBODY;
	for (uint32_t i = 0; i < BITSET_WORDS(THREAD_CAPACITY); i++)
		directed->is_stopped[i] = directed->is_let_on[i] = 0;
	for (uint32_t i = 0; i < THREAD_CAPACITY; i++)
		directed->held_count[i] = 0;
}

/* ---- who stops where ---- */

static bool directed_holds(
	const struct directed_state *directed, uint32_t thread, object_name object)
{
	for (uint8_t i = 0; i < directed->held_count[thread]; i++)
		if (directed->held[thread][i] == object)
			return true;
	return false;
}

static bool directed_fits(const struct directed_state *directed, const struct directed_place *place,
	const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];

	return (!place->kind || place->kind == op->kind) &&
	       (!place->object || place->object == op->object) &&
	       (!place->site || place->site == op->site) &&
	       (!place->thread || place->thread == view->names[thread]) &&
	       (!place->held || directed_holds(directed, thread, place->held));
}

static void directed_stop(
	struct directed_state *directed, const struct schedule_view *view, uint32_t thread)
{
	for (uint32_t i = 0; i < directed->place_count; i++) {
		if (directed->stopped_at[i] != NOBODY ||
			!directed_fits(directed, &directed->places[i], view, thread))
			continue;
		directed->stopped_at[i] = (uint16_t)thread;
		bitset_add(directed->is_stopped, thread);
		directed->taken++;
		if (!(directed->arrived >> i & 1))
			directed->arrivals[i]++;
		directed->arrived |= 1u << i;
		return;
	}
}

static void directed_free(struct directed_state *directed, uint32_t thread)
{
	bitset_remove(directed->is_stopped, thread);
	for (uint32_t i = 0; i < directed->place_count; i++) {
		if (directed->stopped_at[i] == thread) {
			directed->stopped_at[i] = NOBODY;
			directed->taken--;
		}
	}
}

/* A thread that cannot move stops as well: it stands at its op, and does not move when it could. */
static void directed_look(struct directed_state *directed, const struct schedule_view *view)
{
	for (uint32_t thread = 0; thread < view->thread_count; thread++)
		if (view->pending[thread].kind != OP_NONE &&
			!bitset_has(directed->is_stopped, thread) &&
			!bitset_has(directed->is_let_on, thread))
			directed_stop(directed, view, thread);
	if (directed->taken < directed->place_count)
		return;
	directed->has_met = true;
	directed->meetings++;
	directed->next = 0;
}

/* ---- who moves ---- */

static struct thread_id directed_draw(
	struct directed_state *directed, const uint64_t *threads, uint32_t count)
{
	const uint32_t rank = count > 1 ? rng_below(&directed->rng, count) : 0;

	return (struct thread_id){(uint16_t)bitset_select(threads, rank)};
}

/* Nobody else can move: one of those that were stopped is let on. */
static struct thread_id directed_thrash(
	struct directed_state *directed, const struct schedule_view *view)
{
	struct thread_id chosen = directed_draw(directed, view->enabled, view->enabled_count);

	directed->thrashes++;
	directed_free(directed, chosen.index);
	bitset_add(directed->is_let_on, chosen.index);
	return chosen;
}

static bool directed_is_held(
	const struct directed_state *directed, const struct schedule_view *view, uint32_t thread)
{
	for (uint32_t i = 0; i < directed->order_count; i++)
		if (directed_order_holds(&directed->orders[i], view, thread))
			return true;
	return false;
}

/* Takes those that orders hold back out of the candidates. True: an order has a thread to move now. */
static bool directed_follow_orders(
	struct directed_state *directed, const struct schedule_view *view, struct thread_id *chosen)
{
	for (uint32_t thread = view_next_enabled(view, 0); thread < view->thread_count;
		thread = view_next_enabled(view, thread + 1)) {
		if (!bitset_has(directed->candidates, thread))
			continue;
		if (directed_is_held(directed, view, thread)) {
			bitset_remove(directed->candidates, thread);
			continue;
		}
		for (uint32_t i = 0; i < directed->order_count; i++) {
			if (!directed_order_wants(&directed->orders[i], view, thread))
				continue;
			*chosen = (struct thread_id){(uint16_t)thread};
			return true;
		}
	}
	return false;
}

static struct thread_id directed_choose(void *state, const struct schedule_view *view)
{
	struct directed_state *directed = state;
	struct thread_id chosen;
	uint32_t count = 0;

	if (!directed->has_met)
		directed_look(directed, view);
	while (directed->next < directed->place_count) {
		const uint32_t thread = directed->stopped_at[directed->next++];

		if (view_is_enabled(view, thread))
			return (struct thread_id){(uint16_t)thread};
	}
	if (directed->has_met && !directed->order_count)
		return directed_draw(directed, view->enabled, view->enabled_count);
	for (uint32_t word = 0; word < BITSET_WORDS(view->thread_count); word++)
		directed->candidates[word] =
			view->enabled[word] & ~(directed->has_met ? 0 : directed->is_stopped[word]);
	if (directed_follow_orders(directed, view, &chosen))
		return chosen;
	for (uint32_t word = 0; word < BITSET_WORDS(view->thread_count); word++)
		count += (uint32_t)__builtin_popcountll(directed->candidates[word]);
	if (!count)
		return directed_thrash(directed, view);
	return directed_draw(directed, directed->candidates, count);
}

/* Keeps account of locks. A wait on a condition gives its mutex up and takes it again: both are seen. */
static void directed_executed(
	void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct directed_state *directed = state;
	const struct pending_op *op = &view->pending[thread.index];
	uint8_t *count = &directed->held_count[thread.index];
	object_name *held = directed->held[thread.index];

	for (uint32_t i = 0; i < directed->order_count; i++)
		directed_order_executed(&directed->orders[i], view, thread.index);
	bitset_remove(directed->is_let_on, thread.index);
	if (bitset_has(directed->is_stopped, thread.index))
		directed_free(directed, thread.index);
	if (op->flags & OP_ACQUIRE && *count < HELD_MOST)
		held[(*count)++] = op->object;
	for (uint8_t i = *count; op->flags & OP_RELEASE && i-- > 0;) {
		if (held[i] != op->object)
			continue;
		for (--*count; i < *count; i++)
			held[i] = held[i + 1];
		break;
	}
}

const struct strategy strategy_directed = {
	.name = "directed",
	.summary =
		"drives threads to meet at predicted operations (used by raddle predict and explain)",
	.state_bytes = directed_state_bytes,
	.begin_campaign = directed_begin_campaign,
	.begin_run = directed_begin_run,
	.choose = directed_choose,
	.executed = directed_executed,
};
