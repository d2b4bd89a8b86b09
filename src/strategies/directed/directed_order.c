#include "strategies/directed/directed_order.h"

#include "base/bitset.h"

#define NOBODY UINT16_MAX
#define SKIPPED_MOST 6

static bool directed_order_access_fits(
	const struct directed_access *access, const struct pending_op *op)
{
	for (uint32_t i = 0; i < access->site_count; i++)
		if (access->sites[i] == op->site)
			return true;
	return false;
}

static void directed_order_restart(struct directed_order *order)
{
	order->next = 0;
	order->threads[0] = order->threads[1] = NOBODY;
	for (unsigned i = 0; i < 2; i++)
		order->objects[i] = order->drawn.is_home ? order->homes[i] : 0;
}

/* Draws how many matching accesses are skipped: half of the runs begin with the first, a quarter
 * with the second, and so on. */
static uint32_t directed_order_draw_skipped(struct rng *rng)
{
	uint32_t skipped = 0;

	while (skipped < SKIPPED_MOST && rng_below(rng, 2))
		skipped++;
	return skipped;
}

void directed_order_begin_run(struct directed_order *order, struct rng *rng)
{
	order->drawn = (struct directed_order_draw){
		.skipped = directed_order_draw_skipped(rng),
		.is_home = order->homes[0] && rng_below(rng, 2),
	};
	if (order->has_good && rng_below(rng, 2))
		order->drawn = order->good;
	directed_order_restart(order);
	order->mutual = 0;
	order->skipped = order->drawn.skipped;
	order->is_done = false;
	order->open_count = 0;
	for (unsigned i = 0; i < DIRECTED_WRITTEN_BITS / 64; i++)
		order->written[i] = 0;
}

static bool directed_order_is_write(const struct pending_op *op)
{
	return op->object && !(op->flags & OP_READ);
}

static uint32_t directed_order_written_bit(object_name object)
{
	return (uint32_t)(object * UINT32_C(2654435761) >> 16) % DIRECTED_WRITTEN_BITS;
}

static bool directed_order_early_read_holds(
	const struct directed_order *order, const struct pending_op *op)
{
	if (!order->is_forbidden)
		return !order->is_done && directed_order_is_write(op) &&
		       op->object == order->object;
	return directed_order_access_fits(&order->accesses[0], op) &&
	       !bitset_has(order->written, directed_order_written_bit(op->object));
}

static void directed_order_early_read_executed(
	struct directed_order *order, const struct pending_op *op)
{
	if (directed_order_is_write(op))
		bitset_add(order->written, directed_order_written_bit(op->object));
	order->is_done |= directed_order_access_fits(&order->accesses[0], op);
}

static bool directed_order_is_due(
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];
	const struct directed_access *access = &order->accesses[order->next];
	const uint16_t bound = order->threads[access->party];
	const object_name object = order->objects[access->variable];
	const thread_name name = order->names[access->party];

	return (!name || name == view->names[thread]) && directed_order_access_fits(access, op) &&
	       (!object || object == op->object) &&
	       (bound == NOBODY ? thread != order->threads[!access->party] : thread == bound);
}

/* The release of a lock is no access to it: the next acquisition shows the order, and waits for it. */
static bool directed_order_concerns(const struct directed_order *order, const struct pending_op *op)
{
	return op->object && !(op->flags & OP_RELEASE) &&
	       (op->object == order->objects[0] || op->object == order->objects[1]);
}

static bool directed_order_violates(
	const struct directed_order *order, const struct pending_op *op, uint32_t thread)
{
	const uint8_t party = !order->accesses[order->next].party;

	if (thread != order->threads[party])
		return false;
	if (directed_order_concerns(order, op))
		return true;
	for (uint32_t i = order->next; i < order->access_count; i++)
		if (order->accesses[i].party == party &&
			directed_order_access_fits(&order->accesses[i], op))
			return true;
	return false;
}

static bool directed_order_forced_holds(
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];
	const thread_name second = order->names[order->accesses[1].party];
	const object_name object = order->objects[order->accesses[1].variable];

	if (order->is_done)
		return false;
	if (order->next == 0 && object && object != op->object)
		return false;
	if (order->next == 0 && second)
		return second == view->names[thread] &&
		       directed_order_access_fits(&order->accesses[1], op);
	if (order->next == 0)
		return directed_order_access_fits(&order->accesses[1], op) &&
		       !directed_order_access_fits(&order->accesses[0], op);
	return directed_order_violates(order, op, thread);
}

static void directed_order_forced_executed(
	struct directed_order *order, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];
	const struct directed_access *access = &order->accesses[order->next];

	if (order->is_done)
		return;
	/* The thread was released by thrashing, or has ended: the order restarts. */
	if (order->next && !directed_order_is_due(order, view, thread) &&
		(directed_order_violates(order, op, thread) ||
			(op->kind == OP_THREAD_EXIT &&
				(thread == order->threads[0] || thread == order->threads[1])))) {
		directed_order_restart(order);
		access = &order->accesses[0];
	}
	if (!directed_order_is_due(order, view, thread))
		return;
	if (order->next == 0 && order->skipped) {
		order->skipped--;
		return;
	}
	order->threads[access->party] = (uint16_t)thread;
	order->objects[access->variable] = op->object;
	if (++order->next < order->access_count)
		return;
	order->good = order->drawn;
	order->has_good = true;
	directed_order_restart(order);
}

static uint32_t directed_order_last(const struct directed_order *order)
{
	uint32_t last = order->access_count - 1;

	while (last && order->accesses[last].party != order->accesses[0].party)
		last--;
	return last;
}

static bool directed_order_is_open_for(const struct directed_order *order, object_name object)
{
	for (uint32_t i = 0; i < order->open_count; i++)
		if (order->open[i].object == object)
			return true;
	return order->open_count == DIRECTED_OPEN_MAX;
}

/* Returns whether the thread is about to begin the order again. Its earlier access is then obsolete:
 * the thread polls. It does not poll if it acquires a lock again, which completes the order. */
static bool directed_order_polls(const struct directed_order *order, const struct pending_op *op)
{
	return directed_order_access_fits(&order->accesses[0], op) &&
	       !(op->flags & OP_ACQUIRE &&
		       directed_order_access_fits(
			       &order->accesses[directed_order_last(order)], op));
}

/* Returns whether the order is open at the object (0: any). */
static bool order_is_open(const struct directed_order *order, const struct schedule_view *view,
	uint32_t thread, object_name object)
{
	for (uint32_t i = 0; i < order->open_count; i++) {
		const uint16_t other = order->open[i].thread;

		if (other != thread && (!object || order->open[i].object == object) &&
			!directed_order_polls(order, &view->pending[other]))
			return true;
	}
	return false;
}

static bool directed_order_access_conflicts(
	const struct directed_access *a, const struct directed_access *b)
{
	if (a->function && a->function == b->function)
		return true;
	for (uint32_t s = 0; s < a->site_count; s++)
		for (uint32_t t = 0; t < b->site_count; t++)
			if (a->sites[s] == b->sites[t])
				return true;
	return false;
}

/* Returns whether a thread that has begun one order reaches the other thread's accesses of the
 * other. */
static bool directed_order_conflicts(
	const struct directed_order *order, const struct directed_order *other)
{
	for (uint32_t i = 1; i < order->access_count; i++)
		for (uint32_t j = 1; j < other->access_count; j++)
			if (order->accesses[i].party == order->accesses[0].party &&
				other->accesses[j].party != other->accesses[0].party &&
				directed_order_access_conflicts(
					&order->accesses[i], &other->accesses[j]))
				return true;
	return false;
}

/* Marks orders whose threads could wait for each other: only one of them may begin at a time. */
void directed_orders_relate(struct directed_order *orders, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count; j++)
			if (orders[i].is_forbidden && orders[j].is_forbidden &&
				directed_order_conflicts(&orders[i], &orders[j]))
				orders[i].mutual |= 1u << j;
}

static bool directed_order_begins_excluded(const struct directed_order *orders, uint32_t at,
	const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];

	if (!directed_order_access_fits(&orders[at].accesses[0], op))
		return false;
	for (uint32_t i = 0; i < DIRECTED_ORDERS_MAX; i++)
		if (orders[at].mutual >> i & 1 &&
			order_is_open(&orders[i], view, thread, op->object))
			return true;
	return false;
}

static bool directed_order_forbidden_holds(
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];
	const uint32_t last = directed_order_last(order);

	if (order->access_count == 2)
		return directed_order_access_fits(&order->accesses[0], op) &&
		       !directed_order_access_fits(&order->accesses[1], op) &&
		       !directed_order_is_open_for(order, op->object);
	for (uint32_t i = 1; i < last; i++)
		if (directed_order_access_fits(&order->accesses[i], op) &&
			order_is_open(order, view, thread,
				order->accesses[i].variable == order->accesses[0].variable
					? op->object
					: 0))
			return true;
	return false;
}

static void directed_order_open(struct directed_order *order, uint32_t thread, object_name object)
{
	if (order->open_count == DIRECTED_OPEN_MAX)
		return;
	order->open[order->open_count].thread = (uint16_t)thread;
	order->open[order->open_count++].object = object;
}

/* Returns whether the op ends the order. Other accesses to the object do not: one name may cover
 * two adjacent variables. */
static bool directed_order_closes(const struct directed_order *order, const struct pending_op *op)
{
	return op->kind == OP_THREAD_EXIT ||
	       directed_order_access_fits(&order->accesses[directed_order_last(order)], op) ||
	       directed_order_access_fits(&order->accesses[0], op);
}

static void directed_order_forbidden_executed(
	struct directed_order *order, const struct pending_op *op, uint32_t thread)
{
	if (order->access_count == 2) {
		if (directed_order_access_fits(&order->accesses[1], op) &&
			!directed_order_is_open_for(order, op->object))
			directed_order_open(order, thread, op->object);
		return;
	}
	for (uint32_t at = 0; at < order->open_count; at++)
		if (order->open[at].thread == thread && directed_order_closes(order, op))
			order->open[at--] = order->open[--order->open_count];
	if (directed_order_access_fits(&order->accesses[0], op))
		directed_order_open(order, thread, op->object);
}

bool directed_order_holds(const struct directed_order *orders, uint32_t at,
	const struct schedule_view *view, uint32_t thread)
{
	const struct directed_order *order = &orders[at];

	if (order->access_count == 1)
		return directed_order_early_read_holds(order, &view->pending[thread]);
	if (!order->is_forbidden)
		return directed_order_forced_holds(order, view, thread);
	return directed_order_forbidden_holds(order, view, thread) ||
	       (order->access_count > 2 &&
		       directed_order_begins_excluded(orders, at, view, thread));
}

bool directed_order_interleaves(
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread)
{
	return order->is_forbidden && order->access_count > 1 &&
	       directed_order_forbidden_holds(order, view, thread);
}

bool directed_order_has_gate(const struct directed_order *order, object_name object)
{
	for (uint32_t i = 0; i < order->gate_count; i++)
		if (order->gates[i] == object)
			return true;
	return false;
}

bool directed_order_is_open(const struct directed_order *order, const struct schedule_view *view,
	uint32_t but_for_thread)
{
	return order->access_count > 2 && order_is_open(order, view, but_for_thread, 0);
}

bool directed_order_begins(const struct directed_order *order, const struct pending_op *op)
{
	return order->is_forbidden && order->access_count > 2 &&
	       directed_order_access_fits(&order->accesses[0], op);
}

void directed_order_learn(struct directed_order *order, const struct schedule_view *view)
{
	for (uint32_t i = 0;
		order->is_forbidden && order->access_count > 2 && i < order->open_count; i++) {
		const uint16_t thread = order->open[i].thread;
		const struct pending_op *op = &view->pending[thread];

		if (op->flags & OP_ACQUIRE && !view_is_enabled(view, thread) &&
			!directed_order_has_gate(order, op->object) &&
			order->gate_count < DIRECTED_GATES_MAX)
			order->gates[order->gate_count++] = op->object;
	}
}

bool directed_order_wants(
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread)
{
	return !order->is_forbidden && !order->is_done && order->next && order->access_count > 1 &&
	       directed_order_is_due(order, view, thread);
}

void directed_order_executed(
	struct directed_order *order, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];

	if (order->access_count == 1)
		directed_order_early_read_executed(order, op);
	else if (order->is_forbidden)
		directed_order_forbidden_executed(order, op, thread);
	else
		directed_order_forced_executed(order, view, thread);
}
