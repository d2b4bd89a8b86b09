/* See replay_orders.h. */
#include "strategies/replay_orders.h"

#include "base/hash.h"

/* An observed run may have any number of endpoints. */
static size_t replay_orders_end_count(uint32_t order_count, uint32_t op_capacity)
{
	return op_capacity ? KEY_TABLE_CAPACITY : 2 * (size_t)order_count;
}

size_t replay_orders_bytes(uint32_t order_count, uint32_t op_capacity)
{
	return sizeof(struct replay_orders) + order_count * sizeof(struct replay_order) +
	       replay_orders_end_count(order_count, op_capacity) * sizeof(struct replay_endpoint) +
	       (size_t)op_capacity * sizeof(struct replay_op) + sizeof(uint64_t);
}

static struct replay_endpoint *replay_orders_ends(struct replay_orders *orders)
{
	return (struct replay_endpoint *)((char *)orders + orders->endpoints_offset);
}

static uint64_t replay_orders_key(thread_name thread, object_name object)
{
	return hash_pair(thread, object);
}

void replay_state_set_orders(struct replay_state *state, const struct replay_order *items,
	uint32_t order_count, uint32_t op_capacity)
{
	struct replay_orders *orders;
	struct replay_endpoint *ends;

	state->orders_offset = (state->bytes + 7) / 8 * 8;
	state->bytes = state->orders_offset + replay_orders_bytes(order_count, op_capacity);
	orders = replay_orders(state);
	orders->order_count = order_count;
	orders->op_capacity = op_capacity;
	orders->endpoints_offset = sizeof *orders + order_count * sizeof *items;
	orders->ops_offset = orders->endpoints_offset +
			     replay_orders_end_count(order_count, op_capacity) * sizeof *ends;
	ends = replay_orders_ends(orders);
	/* The table has room for two endpoints of each order. */
	for (uint32_t i = order_count; i-- > 0;) {
		struct replay_order *order = &orders->orders[i];
		struct replay_endpoint *second;

		*order = items[i];
		order->first_end = key_table_add(
			&orders->ends, replay_orders_key(order->first, order->object));
		second = &ends[key_table_add(
			&orders->ends, replay_orders_key(order->second, order->object))];
		order->next = second->first_order;
		second->first_order = i + 1;
	}
}

bool replay_state_watch(struct replay_state *state, const struct replay_watch *watch)
{
	struct replay_orders *orders = replay_orders(state);

	orders->is_watching = true;
	return key_table_add(&orders->ends, replay_orders_key(watch->thread, watch->object)) !=
	       KEY_TABLE_NONE;
}

void replay_orders_begin_run(struct replay_orders *orders)
{
	struct replay_endpoint *ends = replay_orders_ends(orders);

	orders->op_count = orders->pending_count = 0;
	orders->is_full = false;
	for (uint32_t i = 0; i < orders->order_count; i++)
		orders->orders[i].is_broken = false;
	for (uint32_t i = 0; i < orders->ends.count; i++) {
		ends[i].done = 0;
		ends[i].order = ends[i].first_order;
	}
}

/* A wait on a condition variable, and the return from it, are operations on a mutex, too. The mutex
 * of a wait is known by a hash, so that hash stands for a mutex everywhere. */
static uint32_t replay_orders_objects(const struct pending_op *op, object_name *objects)
{
	const uint8_t class = op_descriptions[op->kind].object;
	uint32_t count = 0;

	if (op->object)
		objects[count++] = class == OBJECT_MUTEX ? op_second(op->object) : op->object;
	if (op->second && class == OBJECT_COND)
		objects[count++] = op->second;
	return count;
}

static const struct replay_order *replay_orders_delaying_at(
	struct replay_orders *orders, thread_name thread, object_name object)
{
	const struct replay_endpoint *ends = replay_orders_ends(orders);
	const uint32_t end = key_table_find(&orders->ends, replay_orders_key(thread, object));

	if (end == KEY_TABLE_NONE)
		return NULL;
	for (uint32_t i = ends[end].order; i; i = orders->orders[i - 1].next) {
		const struct replay_order *order = &orders->orders[i - 1];

		if (order->second_number > ends[end].done + 1)
			return NULL;
		if (order->is_enforced && ends[order->first_end].done < order->first_number)
			return order;
	}
	return NULL;
}

/* Returns the first enforced order that delays the thread; NULL: none. */
static const struct replay_order *replay_orders_delaying(
	struct replay_orders *orders, const struct schedule_view *view, uint32_t thread)
{
	object_name objects[2];
	const uint32_t count = replay_orders_objects(&view->pending[thread], objects);
	const struct replay_order *delaying = NULL;

	for (uint32_t i = 0; i < count && !delaying; i++)
		delaying = replay_orders_delaying_at(orders, view->names[thread], objects[i]);
	return delaying;
}

/* The awaited thread moves if it can, else the lowest thread that is not delayed. */
struct thread_id replay_orders_choose(
	struct replay_orders *orders, const struct schedule_view *view)
{
	const struct thread_id standard = view_default(view);
	const struct replay_order *delaying = replay_orders_delaying(orders, view, standard.index);
	uint32_t chosen = standard.index;

	if (!delaying)
		return standard;
	for (uint32_t thread = view_next_enabled(view, 0); thread < view->thread_count;
		thread = view_next_enabled(view, thread + 1)) {
		if (replay_orders_delaying(orders, view, thread))
			continue;
		if (view->names[thread] == delaying->first)
			return (struct thread_id){(uint16_t)thread};
		if (chosen == standard.index)
			chosen = thread;
	}
	return (struct thread_id){(uint16_t)chosen};
}

static void replay_orders_note(struct replay_orders *orders, const struct pending_op *op,
	uint32_t thread, uint32_t number, object_name object)
{
	if (orders->keeps_first && orders->op_count == orders->op_capacity)
		return;
	replay_orders_ops(orders)[orders->op_count++ % orders->op_capacity] =
		(struct replay_op){.site = op->site,
			.object = object,
			.number = number,
			.thread = (uint16_t)thread,
			.is_read = op->flags & OP_READ};
}

static void replay_orders_advance(struct replay_orders *orders, struct replay_endpoint *end)
{
	const struct replay_endpoint *ends = replay_orders_ends(orders);

	end->done++;
	for (; end->order; end->order = orders->orders[end->order - 1].next) {
		struct replay_order *order = &orders->orders[end->order - 1];

		if (order->second_number > end->done)
			break;
		order->is_broken = ends[order->first_end].done < order->first_number;
	}
}

/* Returns the endpoint, which an observed run adds if necessary; NULL: none. */
static struct replay_endpoint *replay_orders_end(
	struct replay_orders *orders, thread_name thread, object_name object)
{
	const uint64_t key = replay_orders_key(thread, object);
	const bool is_added = orders->op_capacity && !orders->is_watching;
	const uint32_t end =
		is_added ? key_table_add(&orders->ends, key) : key_table_find(&orders->ends, key);

	orders->is_full |= is_added && end == KEY_TABLE_NONE;
	return end == KEY_TABLE_NONE ? NULL : &replay_orders_ends(orders)[end];
}

void replay_orders_executed(
	struct replay_orders *orders, const struct schedule_view *view, uint32_t thread)
{
	object_name objects[2];
	const struct pending_op *op = &view->pending[thread];
	const uint32_t count = replay_orders_objects(op, objects);

	for (uint32_t i = 0; i < count; i++) {
		struct replay_endpoint *end =
			replay_orders_end(orders, view->names[thread], objects[i]);

		if (end)
			replay_orders_advance(orders, end);
		if (orders->op_capacity && (end || !orders->is_watching))
			replay_orders_note(orders, op, thread, end ? end->done : 0, objects[i]);
	}
}

void replay_orders_ending(struct replay_orders *orders, const struct schedule_view *view)
{
	const uint32_t executed = orders->op_count;

	for (uint32_t thread = 0; orders->op_capacity && thread < view->thread_count; thread++) {
		object_name objects[2];
		const struct pending_op *op = &view->pending[thread];
		const uint32_t count = replay_orders_objects(op, objects);

		for (uint32_t i = 0; i < count; i++) {
			const struct replay_endpoint *end =
				replay_orders_end(orders, view->names[thread], objects[i]);

			if (end || !orders->is_watching)
				replay_orders_note(
					orders, op, thread, end ? end->done + 1 : 0, objects[i]);
		}
	}
	orders->pending_count = orders->op_count - executed;
}
