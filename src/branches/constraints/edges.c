/* Happens-before that every schedule keeps (order.h). */
#include "model/op.h"
#include "branches/constraints/solver.h"

static bool edges_is_op(const struct solver *solver, struct event_id id, enum op_kind kind)
{
	const struct walk_event *event = &solver->walk->threads[id.thread].events[id.index];

	return event->kind == EVENT_OP && event->value != UINT64_MAX &&
	       solver->walk->record->ops[event->value].kind == kind;
}

/* Adds the edge of a pthread_once(). A thread that finds the routine done makes no step there: its
 * previous step must follow the end of the routine. Returns true if this edge is handled. If the
 * thread has a step of its own (OP_ONCE_ENTER), its previous step preceded that end. */
static bool edges_add_once(struct solver *solver, const struct order_edge *edge)
{
	const struct walk_event *second =
		&solver->walk->threads[edge->second.thread].events[edge->second.index];

	if (second->kind == EVENT_ONCE) {
		solver_add(
			solver, solver_implies(solver, solver_happens(solver, edge->second),
					solver_happens_before(solver, edge->first, edge->second)));
		return true;
	}
	if (edge->second.index && edges_is_op(solver, edge->second, OP_ONCE_ENTER) &&
		edges_is_op(solver, edge->first, OP_ONCE_DONE))
		solver_add(solver, solver_implies(solver, solver_happens(solver, edge->second),
					   solver_before(solver,
						   (struct event_id){edge->second.thread,
							   edge->second.index - 1},
						   edge->first)));
	return false;
}

/* Returns NULL if the read always goes to its recorded address. */
static Z3_ast edges_has_recorded_address(struct solver *solver, const struct walk_event *read)
{
	struct term *at = walk_event_at(solver->walk, read);

	return solver->has_open_addresses && at
		       ? Z3_mk_eq(solver->z3, solver_term(solver, at),
				 solver_bits(solver, at->width, read->address))
		       : NULL;
}

/* Adds constraints: a read of a block's first bytes does not happen after the block is freed. */
static void edges_add_block_lives(struct solver *solver)
{
	const struct order *order = solver->order;

	for (uint32_t i = 0; i < order->life_count; i++) {
		const struct order_life *life = &order->lives[i];
		Z3_ast both, there;

		if (solver_is_past(solver, life->read) || !solver_has(solver, life->read) ||
			solver_is_past(solver, life->last) || !solver_has(solver, life->last))
			continue;
		both = solver_and(solver, solver_happens(solver, life->read),
			solver_happens(solver, life->last));
		there = edges_has_recorded_address(
			solver, &solver->walk->threads[life->read.thread].events[life->read.index]);
		solver_add(solver,
			solver_implies(solver, there ? solver_and(solver, both, there) : both,
				solver_before(solver, life->read, life->last)));
	}
}

void solver_add_edges(struct solver *solver)
{
	const struct order *order = solver->order;

	for (uint32_t i = 0; i < order->edge_count; i++) {
		const struct order_edge *edge = &order->edges[i];

		if (edge->is_usual || solver_is_past(solver, edge->second) ||
			!solver_has(solver, edge->second) || solver_is_past(solver, edge->first) ||
			(edge->round &&
				solver_is_open_round(solver, &order->rounds[edge->round - 1])))
			continue;
		if (!solver_has(solver, edge->first)) {
			solver_add(solver,
				Z3_mk_not(solver->z3, solver_happens(solver, edge->second)));
			continue;
		}
		if (edges_add_once(solver, edge))
			continue;
		solver_add(solver, solver_before(solver, edge->first, edge->second));
		solver_add(solver, solver_implies(solver, solver_happens(solver, edge->second),
					   solver_happens(solver, edge->first)));
	}
	edges_add_block_lives(solver);
}
