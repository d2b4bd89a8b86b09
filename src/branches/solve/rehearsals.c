/*
 * Selects and runs the trials of simulated reorderings (rehearsal.h), before any solver query. The
 * first two rounds take the first and then the last candidate of each pair of conflicting
 * instructions. Then come groups, then what unanswered branches depend on, then further candidates
 * between. Everything runs in the thread that opened the analysis, so results do not depend on the
 * number of workers.
 */
#include <stdlib.h>

#include "base/bug.h"
#include "branches/solve/chances.h"
#include "branches/solve/sensitivity_internal.h"

/*
 * Budget of all trials in events; some ten million events take a second. A time limit below
 * TIME_FOR_ALL reduces the budget in proportion. A round gets one fourth of what is left (that of
 * branches one half), and each part of a run gets its share.
 */
#define EVENTS_MOST UINT64_C(40000000)
#define TIME_FOR_ALL UINT64_C(10000000000)
#define ROUND_PARTS 4

/* Events of a trial in the first round, which examines only the surroundings of the candidate. */
#define EVENTS_NEAR 4000
/* The time limit is checked after this many events. */
#define EVENTS_AT_ONCE 100000
/* A far trial may use this many times its equal share of the round's budget. */
#define SHARES 8

/* Rounds of candidates; after the second one come the rounds of groups and of branches. */
#define ROUND_OF_GROUPS 2
#define ROUND_OF_BRANCHES 3
#define ROUNDS_MOST 64

struct rehearsals {
	struct rehearsal rehearsal;
	struct chances chances;
	struct hold_list list; /* trials of the round */
	uint32_t next;	       /* index of the next trial */
	uint32_t round;	       /* number of the next round */
	uint64_t events_left, round_left;
	bool is_trial;	 /* a trial is under way */
	uint64_t most;	 /* its limit of events */
	uint64_t before; /* events of all earlier trials */
	bool is_over;
};

static bool is_worthwhile(const struct sensitivity *analysis)
{
	return !analysis->options.is_global &&
	       analysis->order.event_count > SEARCH_OPEN_AT_ONCE_MOST &&
	       analysis->order.event_count < UINT32_MAX;
}

static void open(struct sensitivity *analysis)
{
	const uint64_t time_ns = analysis->options.time_ns;
	struct rehearsals *rehearsals = calloc(1, sizeof *rehearsals);

	BUG_ON(!rehearsals);
	analysis->search.rehearsals = rehearsals;
	if (!is_worthwhile(analysis)) {
		rehearsals->is_over = true;
		return;
	}
	rehearsals->events_left = time_ns && time_ns < TIME_FOR_ALL
					  ? EVENTS_MOST / 1000 * (time_ns / (TIME_FOR_ALL / 1000))
					  : EVENTS_MOST;
	rehearsals->events_left /= analysis->part_count;
	rehearsal_open(&rehearsals->rehearsal, &analysis->order, analysis->walk.has_open_addresses);
	chances_open(&rehearsals->chances, &rehearsals->rehearsal);
	rehearsals->rehearsal.groups = rehearsals->chances.groups;
	rehearsals->rehearsal.group_places = rehearsals->chances.group_places;
}

void rehearsals_close(struct sensitivity *analysis)
{
	struct rehearsals *rehearsals = analysis->search.rehearsals;

	if (!rehearsals)
		return;
	chances_release(&rehearsals->chances);
	rehearsal_release(&rehearsals->rehearsal);
	free(rehearsals->list.items);
	free(rehearsals);
	analysis->search.rehearsals = NULL;
}

/* ---- rounds ---- */

/*
 * The order of candidates within a kind: first, last, middle, quarters, and so on. UINT32_MAX: no
 * candidate is left.
 */
static uint32_t item_of(const struct chance_kind *kind, uint32_t number)
{
	uint32_t below = 0, parts = 1;

	if (number >= kind->count)
		return UINT32_MAX;
	if (number < 2)
		return kind->first + (number ? kind->count - 1 : 0);
	for (uint32_t bits = number - 1; bits; bits >>= 1) {
		below = below << 1 | (bits & 1);
		parts <<= 1;
	}
	return kind->first + (uint32_t)((uint64_t)kind->count * below / parts);
}

static void list_chances(struct rehearsals *rehearsals, uint32_t number)
{
	const struct chances *chances = &rehearsals->chances;

	for (uint32_t i = 0; i < chances->kind_count; i++) {
		const uint32_t item = item_of(&chances->kinds[i], number);

		if (item != UINT32_MAX)
			chances_add(chances, chances->items[item], number < 2, &rehearsals->list);
	}
}

static bool is_open(const struct sensitivity *analysis, uint32_t place)
{
	const struct asked *asked = &analysis->places.items[place];

	/* A place whose answer a run did not confirm is left to the solver. */
	return !asked->is_proven && !asked->tries && !asked->is_excluded;
}

/* For each place without an answer: candidates that its first and its last occurrence depend on. */
static void list_branches(struct sensitivity *analysis)
{
	struct rehearsals *rehearsals = analysis->search.rehearsals;
	const struct order *order = &analysis->order;
	const uint32_t count = analysis->places.count;
	struct event_id *events = calloc(2u * count + 1u, sizeof *events);
	bool *is_met = calloc(count + 1u, sizeof *is_met);

	BUG_ON(!events || !is_met);
	for (uint64_t i = 0; i < order->event_count; i++) {
		const struct event_id id = order->events[i];
		uint32_t place;

		if (!search_is_wanted(analysis, PASS_RELAXED,
			    &analysis->walk.threads[id.thread].events[id.index], &place) ||
			!is_open(analysis, place))
			continue;
		if (!is_met[place])
			events[2 * place] = id;
		is_met[place] = true;
		events[2 * place + 1] = id;
	}
	for (uint32_t i = 0; i < 2 * count; i++)
		if (is_met[i / 2])
			chances_add_behind(&rehearsals->chances, events[i], &rehearsals->list);
	free(is_met);
	free(events);
}

static bool is_any_open(const struct sensitivity *analysis)
{
	for (uint32_t i = 0; i < analysis->places.count; i++)
		if (is_open(analysis, i))
			return true;
	return false;
}

/* False: no round is left. */
static bool next_round(struct sensitivity *analysis)
{
	struct rehearsals *rehearsals = analysis->search.rehearsals;
	const uint32_t round = rehearsals->round++;

	if (round == ROUNDS_MOST || !is_any_open(analysis))
		return false;
	rehearsals->list.count = rehearsals->next = 0;
	rehearsals->round_left = rehearsals->events_left / ROUND_PARTS;
	if (round == ROUND_OF_BRANCHES) {
		rehearsals->round_left *= 2;
		list_branches(analysis);
	} else if (round == ROUND_OF_GROUPS) {
		chances_add_groups(&rehearsals->chances, &rehearsals->list);
	} else {
		list_chances(rehearsals, round < ROUND_OF_GROUPS ? round : round - 2);
	}
	chances_sort(&rehearsals->chances, &rehearsals->list);
	rehearsal_rewind(&rehearsals->rehearsal);
	return true;
}

/* ---- trials ---- */

static void rehearsals_begin(struct rehearsals *rehearsals)
{
	const uint64_t share =
		SHARES * rehearsals->round_left / (rehearsals->list.count - rehearsals->next);
	/* `round` already names the next round: this is the first one */
	const bool is_near = rehearsals->round == 1;
	uint64_t most = share > EVENTS_NEAR && !is_near ? share : EVENTS_NEAR;

	if (most > rehearsals->round_left)
		most = rehearsals->round_left;
	rehearsals->most = most;
	rehearsals->before = rehearsals->rehearsal.spent;
	rehearsals->is_trial = true;
	rehearsal_begin(&rehearsals->rehearsal, &rehearsals->list.items[rehearsals->next++],
		most < EVENTS_AT_ONCE ? most : EVENTS_AT_ONCE);
}

/* Extends a trial that paused for the check of the time. False: the trial is over. */
static bool rehearsals_goes_on(struct sensitivity *analysis)
{
	struct rehearsals *rehearsals = analysis->search.rehearsals;
	struct rehearsal *rehearsal = &rehearsals->rehearsal;
	const uint64_t left = rehearsals->most - rehearsal->room;

	if (rehearsal->done_count < rehearsal->room || !left || !search_may_go_on(analysis))
		return false;
	rehearsal->room += left < EVENTS_AT_ONCE ? left : EVENTS_AT_ONCE;
	return true;
}

static void end(struct rehearsals *rehearsals)
{
	const uint64_t spent = rehearsals->rehearsal.spent - rehearsals->before;

	rehearsal_end(&rehearsals->rehearsal);
	rehearsals->is_trial = false;
	rehearsals->round_left -= spent < rehearsals->round_left ? spent : rehearsals->round_left;
	rehearsals->events_left -=
		spent < rehearsals->events_left ? spent : rehearsals->events_left;
}

/* Begins the next trial. False: none is left. */
static bool next_trial(struct sensitivity *analysis)
{
	struct rehearsals *rehearsals = analysis->search.rehearsals;

	for (uint32_t empty = 0; empty < ROUNDS_MOST; empty++) {
		if (rehearsals->next < rehearsals->list.count && rehearsals->round_left) {
			rehearsals_begin(rehearsals);
			analysis->figures.trials++;
			return true;
		}
		if (!rehearsals->events_left || !next_round(analysis))
			return false;
	}
	return false;
}

/* Stores the answer in the worker if the event's place still wants one. */
static bool rehearsals_take(struct sensitivity *analysis, struct event_id goal)
{
	struct worker *worker = &analysis->search.rehearser;
	uint32_t place;

	if (!search_is_wanted(analysis, PASS_RELAXED,
		    &analysis->walk.threads[goal.thread].events[goal.index], &place) ||
		!is_open(analysis, place))
		return false;
	solution_release(&worker->solution);
	rehearsal_solution(&analysis->search.rehearsals->rehearsal, goal, &worker->solution);
	worker->goal = goal;
	worker->place = place;
	worker->pass = PASS_BRANCHES;
	return true;
}

bool rehearsals_next(struct sensitivity *analysis)
{
	struct rehearsals *rehearsals = analysis->search.rehearsals;
	struct event_id goal;

	if (!rehearsals) {
		open(analysis);
		rehearsals = analysis->search.rehearsals;
	}
	while (!rehearsals->is_over) {
		if (!rehearsals->is_trial &&
			(!search_may_go_on(analysis) || !next_trial(analysis))) {
			rehearsals->is_over = true;
			break;
		}
		do {
			while (rehearsal_next(&rehearsals->rehearsal, &goal))
				if (rehearsals_take(analysis, goal))
					return true;
		} while (rehearsals_goes_on(analysis));
		end(rehearsals);
	}
	return false;
}
