/* Happens-before that every schedule keeps (order.h). */
#include "model/op.h"
#include "branches/constraints/constraints.h"

static bool constraints_order_is_op(
	const struct constraints *constraints, struct event_id id, enum op_kind kind)
{
	const struct walk_event *event = &constraints->walk->threads[id.thread].events[id.index];

	return event->kind == EVENT_OP && event->value != UINT64_MAX &&
	       constraints->walk->record->ops[event->value].kind == kind;
}

/* Adds the edge of a pthread_once(). A thread that finds the routine done makes no step there: its
 * previous step must follow the end of the routine. Returns true if this edge is handled. If the
 * thread has a step of its own (OP_ONCE_ENTER), its previous step preceded that end. */
static bool constraints_order_add_once(
	struct constraints *constraints, const struct order_edge *edge)
{
	const struct walk_event *second =
		&constraints->walk->threads[edge->second.thread].events[edge->second.index];

	if (second->kind == EVENT_ONCE) {
		constraints_add(constraints, constraints_implies(constraints,
						     constraints_happens(constraints, edge->second),
						     constraints_happens_before(constraints,
							     edge->first, edge->second)));
		return true;
	}
	if (edge->second.index &&
		constraints_order_is_op(constraints, edge->second, OP_ONCE_ENTER) &&
		constraints_order_is_op(constraints, edge->first, OP_ONCE_DONE))
		constraints_add(constraints, constraints_implies(constraints,
						     constraints_happens(constraints, edge->second),
						     constraints_before(constraints,
							     (struct event_id){edge->second.thread,
								     edge->second.index - 1},
							     edge->first)));
	return false;
}

/* Returns NULL if the read always goes to its recorded address. */
static Z3_ast constraints_order_has_recorded_address(
	struct constraints *constraints, const struct walk_event *read)
{
	struct term *at = walk_event_at(constraints->walk, read);

	return constraints->has_open_addresses && at
		       ? Z3_mk_eq(constraints->z3, constraints_term(constraints, at),
				 constraints_bits(constraints, at->width, read->address))
		       : NULL;
}

/* Adds constraints: a read of a block's first bytes does not happen after the block is freed. */
static void constraints_order_add_block_lives(struct constraints *constraints)
{
	const struct order *order = constraints->order;

	for (uint32_t i = 0; i < order->life_count; i++) {
		const struct order_life *life = &order->lives[i];
		Z3_ast both, there;

		if (constraints_is_past(constraints, life->read) ||
			!constraints_has(constraints, life->read) ||
			constraints_is_past(constraints, life->last) ||
			!constraints_has(constraints, life->last))
			continue;
		both = constraints_and(constraints, constraints_happens(constraints, life->read),
			constraints_happens(constraints, life->last));
		there = constraints_order_has_recorded_address(constraints,
			&constraints->walk->threads[life->read.thread].events[life->read.index]);
		constraints_add(constraints,
			constraints_implies(constraints,
				there ? constraints_and(constraints, both, there) : both,
				constraints_before(constraints, life->read, life->last)));
	}
}

void constraints_add_edges(struct constraints *constraints)
{
	const struct order *order = constraints->order;

	for (uint32_t i = 0; i < order->edge_count; i++) {
		const struct order_edge *edge = &order->edges[i];

		if (edge->is_usual || constraints_is_past(constraints, edge->second) ||
			!constraints_has(constraints, edge->second) ||
			constraints_is_past(constraints, edge->first) ||
			(edge->round && constraints_is_open_round(
						constraints, &order->rounds[edge->round - 1])))
			continue;
		if (!constraints_has(constraints, edge->first)) {
			constraints_add(constraints,
				Z3_mk_not(constraints->z3,
					constraints_happens(constraints, edge->second)));
			continue;
		}
		if (constraints_order_add_once(constraints, edge))
			continue;
		constraints_add(
			constraints, constraints_before(constraints, edge->first, edge->second));
		constraints_add(
			constraints, constraints_implies(constraints,
					     constraints_happens(constraints, edge->second),
					     constraints_happens(constraints, edge->first)));
	}
	constraints_order_add_block_lives(constraints);
}
