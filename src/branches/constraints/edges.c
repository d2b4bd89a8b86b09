/* Happens-before that every schedule keeps (order.h). */
#include "model/op.h"
#include "branches/constraints/solver.h"

static bool edges_is_op(const struct solver *solver, struct event_id id, enum op_kind kind)
{
	const struct record_op *op = walk_op_of(solver->walk, id);

	return op && op->kind == kind;
}

/* Adds the edge from the end of a pthread_once() routine to a thread that calls pthread_once(). A
 * call that finds the routine done is no step, so the thread's previous step must follow the end. A
 * call that waits for the routine is a step (OP_ONCE_ENTER), so the thread's step before the call
 * must precede the end. Returns true if no other constraint is needed for the edge. */
static bool edges_add_once(struct solver *solver, const struct order_edge *edge)
{
	const struct event_id first = edge->first, second = edge->second;
	const struct event_id before = {second.thread, second.index - 1};

	if (walk_event_of(solver->walk, second)->kind == EVENT_ONCE) {
		solver_require(solver, solver_occurs(solver, second),
			solver_occurs_before(solver, first, second));
		return true;
	}
	if (second.index && edges_is_op(solver, second, OP_ONCE_ENTER) &&
		edges_is_op(solver, first, OP_ONCE_DONE))
		solver_require(solver, solver_occurs(solver, second),
			solver_before(solver, before, first));
	return false;
}

/* Adds constraints: a read of a block's first bytes does not happen after the block is freed. The
 * read may go to another address. */
static void edges_add_block_lives(struct solver *solver)
{
	const struct order *order = solver->order;

	for (uint32_t i = 0; i < order->life_count; i++) {
		const struct order_life *life = &order->lives[i];
		const struct walk_event *read = walk_event_of(solver->walk, life->read);
		struct term *at = walk_event_at(solver->walk, read);
		Z3_ast both;

		if (!solver_is_in_window(solver, life->read) ||
			!solver_is_in_window(solver, life->last))
			continue;
		both = solver_and(solver, solver_occurs(solver, life->read),
			solver_occurs(solver, life->last));
		if (solver->has_open_addresses && at)
			both = solver_and(solver, both, solver_equals(solver, at, read->address));
		solver_require(solver, both, solver_before(solver, life->read, life->last));
	}
}

void solver_add_edges(struct solver *solver)
{
	const struct order *order = solver->order;

	for (uint32_t i = 0; i < order->edge_count; i++) {
		const struct order_edge *edge = &order->edges[i];

		if (edge->is_usual || !solver_is_in_window(solver, edge->second) ||
			solver_is_past(solver, edge->first) ||
			(edge->round &&
				solver_is_open_round(solver, &order->rounds[edge->round - 1])))
			continue;
		if (!solver_has(solver, edge->first)) {
			solver_add(solver, solver_not(solver, solver_occurs(solver, edge->second)));
			continue;
		}
		if (edges_add_once(solver, edge))
			continue;
		solver_add(solver, solver_before(solver, edge->first, edge->second));
		solver_require(solver, solver_occurs(solver, edge->second),
			solver_occurs(solver, edge->first));
	}
	edges_add_block_lives(solver);
}
