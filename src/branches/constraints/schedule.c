#include "branches/constraints/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Steps of a thread up to an event, without and with the steps that follow it at once. */
struct solution_steps {
	uint64_t own, with;
};

struct scheduled_event {
	int64_t at;
	struct event_id id;
	struct solution_steps steps; /* steps of the thread in the schedule, including this event */
	/* The thread leaves the barrier at which it arrived with this event. */
	bool is_behind;
};

struct scheduled_events {
	struct scheduled_event *items;
	uint32_t count;
};

/* A thread that makes more or fewer steps than in the run, for the same events. */
struct shift {
	struct event_id behind; /* events of the thread after this one shift by this many steps */
	int by;
};

struct shifts {
	struct shift *items;
	uint32_t count;
};

/* Converts the recorded number of steps at an event into the number in the schedule. */
static uint64_t schedule_shifts_apply(
	const struct shifts *shifts, struct event_id event, uint64_t steps)
{
	int64_t by = 0;

	for (uint32_t i = 0; i < shifts->count; i++)
		if (shifts->items[i].behind.thread == event.thread &&
			shifts->items[i].behind.index < event.index)
			by += shifts->items[i].by;
	return steps + (uint64_t)by;
}

static int schedule_compare(const void *left, const void *right)
{
	const struct scheduled_event *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->is_behind != b->is_behind)
		return a->is_behind ? 1 : -1;
	return event_compare_ids(a->id, b->id);
}

static int64_t schedule_value_of(const struct solver *solver, Z3_model model, Z3_ast ast)
{
	Z3_ast value;
	int64_t number = 0;

	if (Z3_model_eval(solver->z3, model, ast, true, &value))
		(void)Z3_get_numeral_int64(
			solver->z3, value, &number); /* 0 otherwise: any value serves */
	return number;
}

/*
 * Steps of the thread up to the event, and with the steps that follow at once. After the event the
 * thread may access unshared memory at sites that also access shared memory: steps without events.
 * Those before the thread's next operation are made at once, as the constraints on yields expect
 * the thread before that operation (yields.c).
 */
static uint64_t schedule_steps_with(const struct solver *solver, struct event_id id, int64_t cut)
{
	const struct walked_thread *walked = &solver->walk->threads[id.thread];

	for (uint64_t i = id.index + 1u; i < walked->count && (int64_t)i <= cut; i++)
		if (walked->events[i].kind == EVENT_OP)
			return walked->events[i].step;
		else if (walked->events[i].kind <= EVENT_OP && !walked->events[i].is_atomic)
			break;
	return walked->events[id.index].step + 1;
}

/* Returns the steps of a thread. A thread that waits at a barrier, but did not in the run, makes no
 * further steps at once. */
static struct solution_steps schedule_steps_of(
	const struct solver *solver, const struct shifts *shifts, struct event_id id, int64_t cut)
{
	struct solution_steps steps = {solver->walk->threads[id.thread].events[id.index].step + 1,
		schedule_steps_with(solver, id, cut)};

	for (uint32_t i = 0; i < shifts->count; i++)
		if (shifts->items[i].by > 0 && shifts->items[i].behind.thread == id.thread &&
			shifts->items[i].behind.index == id.index)
			steps.with = steps.own;
	steps.own = schedule_shifts_apply(shifts, id, steps.own);
	steps.with = schedule_shifts_apply(shifts, id, steps.with);
	return steps;
}

static void schedule_collect(const struct solver *solver, Z3_model model,
	const struct shifts *shifts, struct scheduled_events *list)
{
	const struct walk *walk = solver->walk;

	for (uint32_t thread = 0; thread < walk->record->thread_count; thread++) {
		const int64_t cut = schedule_value_of(solver, model, solver->cuts[thread]);

		/* Events before the window are first, in the order of the run. */
		for (uint32_t i = 0; i < solver->window->begin[thread]; i++)
			if (walk->threads[thread].events[i].kind <= EVENT_OP)
				ARRAY_APPEND(list->items, list->count,
					(struct scheduled_event){
						.at = (int64_t)walk->threads[thread]
							      .events[i]
							      .position -
						      INT64_MAX,
						.id = {(uint16_t)thread, i},
						.steps = {walk->threads[thread].events[i].step + 1,
							walk->threads[thread].events[i].step + 1}});
		for (uint32_t i = solver->window->begin[thread];
			i < solver->window->end[thread] && i < cut; i++) {
			const struct event_id id = {(uint16_t)thread, i};
			Z3_ast at = solver->times[thread][i];

			if (at)
				ARRAY_APPEND(list->items, list->count,
					(struct scheduled_event){
						.at = schedule_value_of(solver, model, at),
						.id = id,
						.steps = schedule_steps_of(
							solver, shifts, id, cut)});
		}
	}
}

struct round_outcome {
	uint32_t last; /* index of the last arrival; ORDER_NONE: not all threads arrive */
	int64_t at;
};

static struct round_outcome schedule_outcome_of(
	const struct solver *solver, Z3_model model, const struct order_round *round)
{
	struct round_outcome outcome = {.last = ORDER_NONE};

	for (uint32_t i = 0; i < round->count; i++) {
		const struct event_id id = round->arrivals[i].at;
		int64_t at;

		if (!solver_has(solver, id) ||
			schedule_value_of(solver, model, solver->cuts[id.thread]) <= id.index)
			return (struct round_outcome){.last = ORDER_NONE};
		at = schedule_value_of(solver, model, solver->times[id.thread][id.index]);
		if (outcome.last == ORDER_NONE || at > outcome.at)
			outcome = (struct round_outcome){i, at};
	}
	return outcome;
}

/* Adds a step without an event: the thread that arrived last in the run now waits, and so leaves
 * the barrier. */
static void schedule_add_leave(const struct solver *solver, Z3_model model,
	const struct shifts *shifts, struct scheduled_events *list, struct event_id arrival,
	int64_t at)
{
	const int64_t cut = schedule_value_of(solver, model, solver->cuts[arrival.thread]);
	const uint64_t own = solver->walk->threads[arrival.thread].events[arrival.index].step;
	const uint64_t before = schedule_shifts_apply(shifts, arrival, own + 1);

	ARRAY_APPEND(list->items, list->count,
		(struct scheduled_event){.at = at,
			.id = arrival,
			.steps = {before + 1, schedule_shifts_apply(shifts, arrival,
						      schedule_steps_with(solver, arrival, cut)) +
						      1},
			.is_behind = true});
}

static void schedule_shift_rounds(
	const struct solver *solver, Z3_model model, struct shifts *shifts)
{
	const struct order *order = solver->order;

	for (uint32_t i = 0; i < order->round_count; i++) {
		const struct order_round *round = &order->rounds[i];
		uint32_t last;

		if (!solver_is_open_round(solver, round))
			continue;
		last = schedule_outcome_of(solver, model, round).last;
		if (last == round->last)
			continue;
		ARRAY_APPEND(shifts->items, shifts->count,
			(struct shift){round->arrivals[round->last].at, 1});
		if (last != ORDER_NONE)
			ARRAY_APPEND(shifts->items, shifts->count,
				(struct shift){round->arrivals[last].at, -1});
	}
}

static void schedule_add_leaves(const struct solver *solver, Z3_model model,
	const struct shifts *shifts, uint16_t goal, struct scheduled_events *list)
{
	const struct order *order = solver->order;

	for (uint32_t i = 0; i < order->round_count; i++) {
		const struct order_round *round = &order->rounds[i];
		struct round_outcome outcome;
		struct event_id was;

		if (!solver_is_open_round(solver, round))
			continue;
		outcome = schedule_outcome_of(solver, model, round);
		was = round->arrivals[round->last].at;
		if (outcome.last != round->last && outcome.last != ORDER_NONE &&
			(was.thread == goal || schedule_value_of(solver, model,
						       solver->cuts[was.thread]) > was.index + 1))
			schedule_add_leave(solver, model, shifts, list, was, outcome.at);
	}
}

void solution_append(struct solution *solution, struct schedule_segment segment)
{
	ARRAY_APPEND(solution->segments, solution->count, segment);
}

void solution_add(struct solution *solution, uint16_t thread, uint64_t steps)
{
	struct schedule_segment *last =
		solution->count ? &solution->segments[solution->count - 1] : NULL;

	if (last && last->thread == thread && !(last->flags & SEGMENT_VALUE)) {
		last->count += (uint32_t)steps;
		return;
	}
	solution_append(
		solution, (struct schedule_segment){.thread = thread, .count = (uint32_t)steps});
}

/* The answer of the solver, and the threads that wait on condition variables as the schedule is
 * followed event by event. */
struct answer {
	struct solver *solver;
	Z3_model model;
	struct waiting *waiting; /* by condition variable */
};

/* Numbers of the current waits, in the order of arrival. */
struct waiting {
	uint32_t *waits;
	uint32_t count;
};

static void schedule_open_answer(struct answer *answer, struct solver *solver, Z3_model model)
{
	const struct order *order = solver->order;

	*answer = (struct answer){
		solver, model, array_new(order->condition_count + 1u, sizeof *answer->waiting)};
	for (uint32_t i = 0; i < order->condition_count; i++)
		answer->waiting[i].waits = array_new(
			order->conditions[i].wait_count + 1u, sizeof *answer->waiting[i].waits);
}

static void schedule_close_answer(struct answer *answer)
{
	for (uint32_t i = 0; i < answer->solver->order->condition_count; i++)
		free(answer->waiting[i].waits);
	free(answer->waiting);
}

static void schedule_remove_wait(struct waiting *waiting, uint32_t at)
{
	waiting->count--;
	memmove(&waiting->waits[at], &waiting->waits[at + 1],
		(waiting->count - at) * sizeof *waiting->waits);
}

static bool schedule_wakes(
	const struct answer *answer, uint32_t condition, uint32_t wait, uint32_t signal)
{
	const struct solver *solver = answer->solver;
	Z3_ast wake = solver_wakes(solver, condition, wait, signal), value;

	if (!wake) /* the wake-up is unknown, and stays as in the run */
		return solver->order->conditions[condition].waits[wait].signal == signal;
	return Z3_model_eval(solver->z3, answer->model, wake, true, &value) &&
	       Z3_get_bool_value(solver->z3, value) == Z3_L_TRUE;
}

/* Returns the choice of a signal as a segment; count 0: at most one thread waits. If the answer wakes
 * none of the waiting threads, the first one wakes. */
static struct schedule_segment schedule_wake(
	struct answer *answer, uint32_t condition, uint32_t signal)
{
	struct waiting *waiting = &answer->waiting[condition];
	const uint32_t count = waiting->count > 1 ? waiting->count : 0;
	uint32_t woken = 0;

	while (woken < waiting->count &&
		!schedule_wakes(answer, condition, waiting->waits[woken], signal))
		woken++;
	if (woken == waiting->count)
		woken = 0;
	if (waiting->count)
		schedule_remove_wait(waiting, woken);
	return (struct schedule_segment){
		.thread = (uint16_t)woken, .count = count, .flags = SEGMENT_VALUE};
}

/* Follows one event, and returns the choice made at it; count 0: none. */
static struct schedule_segment schedule_follow(struct answer *answer, struct event_id event)
{
	const struct order *order = answer->solver->order;
	const struct record_op *op = walk_op_of(answer->solver->walk, event);
	const struct order_condition *condition =
		op ? order_condition_at(order, op->address) : NULL;
	const uint32_t number = condition ? (uint32_t)(condition - order->conditions) : 0;
	struct waiting *waiting = &answer->waiting[number];

	if (!condition || !condition->is_reported)
		return (struct schedule_segment){0};
	for (uint32_t i = 0; i < condition->signal_count; i++)
		if (event_is_same(condition->signals[i].at, event)) {
			if (condition->signals[i].is_broadcast)
				waiting->count = 0;
			return schedule_wake(answer, number, i);
		}
	for (uint32_t i = 0; i < condition->wait_count; i++)
		if (event_is_same(condition->waits[i].at, event))
			waiting->waits[waiting->count++] = i;
	for (uint32_t i = waiting->count; i-- > 0;)
		if (condition->waits[waiting->waits[i]].has_left &&
			event_is_same(condition->waits[waiting->waits[i]].left, event))
			schedule_remove_wait(waiting, i);
	return (struct schedule_segment){0};
}

static void schedule_add_event(struct solution *solution, struct answer *answer,
	struct event_id event, struct solution_steps steps)
{
	const struct schedule_segment choice = schedule_follow(answer, event);

	if (choice.count) {
		solution_add(solution, event.thread, steps.own);
		solution_append(solution, choice);
		steps.with = steps.with > steps.own ? steps.with - steps.own : 0;
	}
	if (steps.with)
		solution_add(solution, event.thread, steps.with);
}

void solution_take(
	struct solution *solution, struct solver *solver, Z3_model model, struct event_id goal)
{
	const struct walk *walk = solver->walk;
	uint64_t wanted = walk->threads[goal.thread].events[goal.index].step;
	FREE_SCOPED uint64_t *done = array_new(walk->record->thread_count + 1u, sizeof *done);
	struct scheduled_events list = {0};
	struct shifts shifts = {0};
	struct answer answer;

	*solution = (struct solution){0};
	schedule_open_answer(&answer, solver, model);
	schedule_shift_rounds(solver, model, &shifts);
	schedule_collect(solver, model, &shifts, &list);
	schedule_add_leaves(solver, model, &shifts, goal.thread, &list);
	if (list.count)
		qsort(list.items, list.count, sizeof *list.items, schedule_compare);
	wanted = schedule_shifts_apply(&shifts, goal, wanted);
	for (uint32_t i = 0; i < list.count; i++) {
		const struct scheduled_event *event = &list.items[i];
		const uint16_t thread = event->id.thread;

		/* Steps of other threads after the goal's last step are not needed. */
		if (done[goal.thread] >= wanted)
			break;
		if (event->steps.with <= done[thread])
			continue;
		schedule_add_event(solution, &answer, event->id,
			(struct solution_steps){
				event->steps.own - done[thread], event->steps.with - done[thread]});
		done[thread] = event->steps.with;
	}
	if (done[goal.thread] < wanted)
		solution_add(solution, goal.thread, wanted - done[goal.thread]);
	schedule_close_answer(&answer);
	free(shifts.items);
	free(list.items);
}

void solution_release(struct solution *solution)
{
	free(solution->segments);
	*solution = (struct solution){0};
}
