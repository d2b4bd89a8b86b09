/*
 * Who is about to yield does not move before another thread has made a step (engine/fairness.c), so a schedule that
 * lets it would be left there.
 */
#include <stdlib.h>

#include "base/bug.h"
#include "model/op.h"
#include "sensitivity/constraints.h"

/* So many steps of each other thread are looked at. */
#define STEPS_MOST 200

static bool is_yield(const struct constraints *constraints, const struct walk_event *event)
{
	return event->kind == EVENT_OP && event->value != UINT64_MAX &&
	       constraints->walk->record->ops[event->value].kind == OP_YIELD;
}

/* The thread's last event in the window before this one that has a moment; UINT32_MAX: there is none. */
static uint32_t step_before(const struct constraints *constraints, struct event_id of)
{
	for (uint32_t i = of.index; i-- > constraints->window->begin[of.thread];)
		if (constraints->moments[of.thread][i])
			return i;
	return UINT32_MAX;
}

/* A step of the other thread lies between, or of those before; NULL: there is none that could. */
static Z3_ast add_steps(struct constraints *constraints, Z3_ast any, uint16_t other,
	struct event_id before, struct event_id yield)
{
	uint32_t left = STEPS_MOST;

	for (uint32_t i = constraints->window->begin[other];
		i < constraints->window->end[other] && left; i++) {
		const struct event_id id = {other, i};
		Z3_ast between;

		if (!constraints->moments[other][i] ||
			order_is_before(constraints->order, yield, id) ||
			order_is_before(constraints->order, id, before))
			continue;
		left--;
		between = constraints_and(constraints, constraints_happens(constraints, id),
			constraints_and(constraints, constraints_before(constraints, before, id),
				constraints_before(constraints, id, yield)));
		any = any ? constraints_or(constraints, any, between) : between;
	}
	return any;
}

void constraints_add_yields(struct constraints *constraints)
{
	const uint32_t threads = constraints->order->thread_count;

	for (uint16_t thread = 0; thread < threads; thread++)
		for (uint32_t i = constraints->window->begin[thread];
			i < constraints->window->end[thread]; i++) {
			const struct event_id yield = {thread, i};
			struct event_id before = {thread, 0};
			Z3_ast any = NULL;

			if (constraints_is_late(constraints))
				return;
			if (!is_yield(constraints, &constraints->walk->threads[thread].events[i]))
				continue;
			before.index = step_before(constraints, yield);
			if (before.index == UINT32_MAX)
				continue;
			for (uint16_t other = 0; other < threads; other++)
				if (other != thread)
					any = add_steps(constraints, any, other, before, yield);
			constraints_add(
				constraints, constraints_implies(constraints,
						     constraints_happens(constraints, yield), any));
		}
}
