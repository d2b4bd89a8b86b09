/* Which threads are enabled in a trial: locks, edges of the order, yields, and holds. */
#include "model/op.h"
#include "branches/solve/rehearsal.h"

/* ---- operations ---- */

/* The critical section that begins with the thread's next event; UINT32_MAX: none. */
static uint32_t beginning(
	const struct rehearsal *rehearsal, const struct player *player, uint32_t thread)
{
	const struct order *order = rehearsal->order;
	const struct order_sections *index = &order->by_thread;

	if (player->begin < index->first[thread + 1] &&
		order->sections[index->items[player->begin]].begin == player->at)
		return index->items[player->begin];
	return UINT32_MAX;
}

static bool is_free(
	const struct rehearsal *rehearsal, const struct lock_state *locks, uint32_t section)
{
	const struct lock_state *lock = &locks[rehearsal->locks_of[section]];

	return !lock->holder && (rehearsal->order->sections[section].is_shared || !lock->readers);
}

static bool has_what_it_waits_for(
	const struct rehearsal *rehearsal, const struct player *player, uint32_t thread)
{
	const struct order *order = rehearsal->order;

	for (uint32_t i = player->edge;
		i < rehearsal->first_edge[thread + 1] && order->edges[i].second.index == player->at;
		i++) {
		const struct event_id first = order->edges[i].first;

		if (rehearsal->players[first.thread].at <= first.index)
			return false;
	}
	return true;
}

/* Acquires and releases locks at the thread's next event. */
static void move_locks(const struct rehearsal *rehearsal, struct player *player,
	struct lock_state *locks, uint32_t thread)
{
	const struct order_section *sections = rehearsal->order->sections;

	while (player->end < rehearsal->first_end[thread + 1] &&
		sections[rehearsal->ends[player->end]].end <= player->at) {
		const uint32_t section = rehearsal->ends[player->end++];
		struct lock_state *lock = &locks[rehearsal->locks_of[section]];

		if (sections[section].is_shared)
			lock->readers -= lock->readers > 0;
		else
			lock->holder = 0;
	}
	for (uint32_t section; (section = beginning(rehearsal, player, thread)) != UINT32_MAX;
		player->begin++) {
		struct lock_state *lock = &locks[rehearsal->locks_of[section]];

		if (sections[section].is_shared)
			lock->readers++;
		else
			lock->holder = thread + 1;
	}
}

void rehearsal_move_on(const struct rehearsal *rehearsal, struct player *player,
	struct lock_state *locks, uint32_t thread)
{
	const struct order *order = rehearsal->order;

	if (rehearsal->walk->threads[thread].events[player->at].kind == EVENT_OP)
		move_locks(rehearsal, player, locks, thread);
	while (player->edge < rehearsal->first_edge[thread + 1] &&
		order->edges[player->edge].second.index <= player->at)
		player->edge++;
	while (player->failure < rehearsal->first_failure[thread + 1] &&
		rehearsal->failures[player->failure].event.index <= player->at)
		player->failure++;
	player->at++;
}

static const struct record_op *rehearsal_moves_op_of(
	const struct rehearsal *rehearsal, const struct walk_event *event)
{
	return event->kind == EVENT_OP && event->value != UINT64_MAX
		       ? &rehearsal->walk->record->ops[event->value]
		       : NULL;
}

void rehearsal_note_step(
	const struct rehearsal *rehearsal, struct player *players, uint32_t thread, uint64_t step)
{
	const struct record_op *op = rehearsal_moves_op_of(
		rehearsal, &rehearsal->walk->threads[thread].events[players[thread].at]);

	players[thread].moved = step;
	if (op && op->kind == OP_THREAD_CREATE && op->other < rehearsal->thread_count)
		players[op->other].moved = step;
}

bool rehearsal_fails_as_it_did(
	const struct rehearsal *rehearsal, const struct player *player, uint32_t thread)
{
	const struct lock_state *lock;

	if (player->failure >= rehearsal->first_failure[thread + 1] ||
		rehearsal->failures[player->failure].event.index != player->at)
		return true;
	lock = &rehearsal->locks[rehearsal->failure_locks[player->failure]];
	return (lock->holder && lock->holder != thread + 1) || lock->readers;
}

/* ---- enabled threads ---- */

/* Whether locks and edges allow the thread's next event. */
static bool is_enabled(const struct rehearsal *rehearsal, uint32_t thread)
{
	const struct player *player = &rehearsal->players[thread];
	uint32_t section;

	if (player->at >= rehearsal->walk->threads[thread].count ||
		!has_what_it_waits_for(rehearsal, player, thread))
		return false;
	section = beginning(rehearsal, player, thread);
	return section == UINT32_MAX || is_free(rehearsal, rehearsal->locks, section);
}

/*
 * A thread before a yield must let all other enabled threads make a step first (engine/fairness.c).
 */
static bool has_to_give_way(const struct rehearsal *rehearsal, uint32_t thread)
{
	const struct player *player = &rehearsal->players[thread];
	const struct record_op *op = rehearsal_moves_op_of(
		rehearsal, &rehearsal->walk->threads[thread].events[player->at]);

	if (!op || !order_is_pause(op))
		return false;
	for (uint32_t i = 0; i < rehearsal->thread_count; i++)
		if (rehearsal->players[i].moved < player->moved && is_enabled(rehearsal, i))
			return true;
	return false;
}

static bool waits_with_group(const struct rehearsal *rehearsal, uint32_t thread)
{
	const struct player *player = &rehearsal->players[thread];

	return rehearsal->hold.group && player->at < rehearsal->walk->threads[thread].count &&
	       rehearsal->groups[rehearsal->ranks[thread][player->at]] == rehearsal->hold.group &&
	       player->released != player->at + 1;
}

static bool is_held(const struct rehearsal *rehearsal, uint32_t thread)
{
	if (!rehearsal->is_holding)
		return false;
	if (rehearsal->hold.group)
		return waits_with_group(rehearsal, thread);
	return rehearsal->hold.held.thread == thread &&
	       rehearsal->players[thread].at == rehearsal->hold.held.index;
}

static uint32_t place_in_group(const struct rehearsal *rehearsal, uint32_t thread)
{
	return rehearsal->group_places[rehearsal->ranks[thread][rehearsal->players[thread].at]];
}

/* Compares two threads that are held with their group: least progress first, then held longest. */
static bool rehearsal_moves_is_behind(
	const struct rehearsal *rehearsal, uint32_t thread, uint32_t other)
{
	const uint32_t own = place_in_group(rehearsal, thread);
	const uint32_t others = place_in_group(rehearsal, other);

	return own != others ? own < others
			     : rehearsal->players[thread].held < rehearsal->players[other].held;
}

uint32_t rehearsal_release_one(struct rehearsal *rehearsal)
{
	uint32_t first = REHEARSAL_NOBODY;

	for (uint32_t i = 0; i < rehearsal->thread_count; i++)
		if (!rehearsal->players[i].is_stopped && waits_with_group(rehearsal, i) &&
			rehearsal->players[i].waits != rehearsal->writes + 1 &&
			is_enabled(rehearsal, i) &&
			(first == REHEARSAL_NOBODY ||
				rehearsal_moves_is_behind(rehearsal, i, first)))
			first = i;
	if (first != REHEARSAL_NOBODY)
		rehearsal->players[first].released = rehearsal->players[first].at + 1;
	return first;
}

bool rehearsal_may_move(const struct rehearsal *rehearsal, uint32_t thread)
{
	/*
	 * A thread in a waiting loop is not enabled until another write happens: it would read the
	 * same values again.
	 */
	return !rehearsal->players[thread].is_stopped && !is_held(rehearsal, thread) &&
	       rehearsal->players[thread].waits != rehearsal->writes + 1 &&
	       is_enabled(rehearsal, thread) && !has_to_give_way(rehearsal, thread);
}

uint32_t rehearsal_first_to_move(const struct rehearsal *rehearsal)
{
	uint32_t best = REHEARSAL_NOBODY, best_rank = UINT32_MAX;

	for (uint32_t i = 0; i < rehearsal->thread_count; i++) {
		const uint32_t at = rehearsal->players[i].at;

		if (at >= rehearsal->walk->threads[i].count ||
			rehearsal->ranks[i][at] >= best_rank || !rehearsal_may_move(rehearsal, i))
			continue;
		best = i;
		best_rank = rehearsal->ranks[i][at];
	}
	return best;
}

uint32_t rehearsal_longest_ago(const struct rehearsal *rehearsal)
{
	uint32_t best = REHEARSAL_NOBODY;

	for (uint32_t i = 0; i < rehearsal->thread_count; i++)
		if (rehearsal->players[i].at < rehearsal->walk->threads[i].count &&
			(best == REHEARSAL_NOBODY ||
				rehearsal->players[i].moved < rehearsal->players[best].moved) &&
			rehearsal_may_move(rehearsal, i))
			best = i;
	return best;
}
