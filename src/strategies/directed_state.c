/* Filling the state of strategy `directed`: by whoever directs, before the first run. */
#include "strategies/directed.h"

void directed_state_init(
	struct directed_state *state, const struct directed_place *places, uint32_t place_count)
{
	state->place_count = place_count > DIRECTED_PLACES_MAX ? DIRECTED_PLACES_MAX : place_count;
	for (uint32_t i = 0; i < state->place_count; i++)
		state->places[i] = places[i];
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
