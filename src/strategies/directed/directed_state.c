#include "strategies/directed/directed.h"

void directed_state_init(
	struct directed_state *state, const struct directed_stop *stops, uint32_t stop_count)
{
	state->stop_count = stop_count > DIRECTED_STOPS_MAX ? DIRECTED_STOPS_MAX : stop_count;
	for (uint32_t i = 0; i < state->stop_count; i++)
		state->stops[i] = stops[i];
}

void directed_state_set_ring(struct directed_state *state)
{
	state->is_ring = true;
}

void directed_state_set_orders(
	struct directed_state *state, const struct directed_order *orders, uint32_t order_count)
{
	state->order_count = order_count > DIRECTED_ORDERS_MAX ? DIRECTED_ORDERS_MAX : order_count;
	for (uint32_t i = 0; i < state->order_count; i++)
		state->orders[i] = orders[i];
}

void directed_state_set_race(struct directed_state *state)
{
	state->shares_object = true;
}

void directed_state_set_scenario(
	struct directed_state *state, const struct directed_op *ops, uint32_t op_count)
{
	state->scenario.op_count = op_count > SCENARIO_OPS_MAX ? SCENARIO_OPS_MAX : op_count;
	for (uint32_t i = 0; i < state->scenario.op_count; i++)
		state->scenario.ops[i] = ops[i];
}

void directed_orders_share(
	struct directed_order *to, const struct directed_order *known, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t gate = 0; gate < DIRECTED_GATES_MAX; gate++)
			to[i].gates[gate] = known[i].gates[gate];
		to[i].gate_count = known[i].gate_count;
		to[i].good = known[i].good;
		to[i].has_good = known[i].has_good;
	}
}

void directed_orders_learn(struct directed_order *known, const struct directed_order *base,
	const struct directed_order *run, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t gate = base[i].gate_count; gate < run[i].gate_count; gate++)
			if (!directed_order_has_gate(&known[i], run[i].gates[gate]) &&
				known[i].gate_count < DIRECTED_GATES_MAX)
				known[i].gates[known[i].gate_count++] = run[i].gates[gate];
		/* A result equal to the base is not new. */
		if (run[i].has_good &&
			(!base[i].has_good || run[i].good.skipped != base[i].good.skipped ||
				run[i].good.is_home != base[i].good.is_home)) {
			known[i].good = run[i].good;
			known[i].has_good = true;
		}
	}
}
