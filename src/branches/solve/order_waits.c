/* Order by semaphores and by pthread_once(). */
#include <stdlib.h>

#include "base/bug.h"
#include "branches/solve/order_internal.h"

/* A semaphore with more uses keeps its recorded order: the constraints grow with the pairs. */
#define USES_MOST 64

#define NONE UINT32_MAX

/* ---- semaphores ---- */

static bool is_take(const struct record_op *op)
{
	return (op->kind == OP_SEM_WAIT || op->kind == OP_SEM_TRYWAIT) &&
	       !(op->flags & RECORD_OP_FAILED);
}

static bool is_use(const struct record_op *op)
{
	return op->kind == OP_SEM_WAIT || op->kind == OP_SEM_TRYWAIT || op->kind == OP_SEM_POST ||
	       op->kind == OP_SEM_READ;
}

/*
 * Posts may change their order. A wait stays behind the post that let it through in the run.
 * `is_usual` marks edges that constraints replace, as all uses of the semaphore are known.
 */
static void add_wait_edge(
	struct order *order, const struct op_list *list, uint32_t wait, bool is_usual)
{
	const struct op_event *event = &list->items[wait];
	uint32_t waits = 0, posts = 0, surplus = 0;

	/* `surplus`: the lowest initial value that explains the run. */
	for (uint32_t i = 0; i <= wait; i++) {
		const struct op_event *before = &list->items[i];

		if (before->op->address != event->op->address ||
			before->op->flags & RECORD_OP_FAILED)
			continue;
		posts += before->op->kind == OP_SEM_POST;
		waits += is_take(before->op);
		if (waits > posts + surplus)
			surplus = waits - posts;
	}
	if (waits <= surplus)
		return;
	posts = waits - surplus;
	for (uint32_t i = 0; i < wait; i++)
		if (list->items[i].op->address == event->op->address &&
			list->items[i].op->kind == OP_SEM_POST && --posts == 0) {
			const uint32_t count = order->edge_count;

			order_add_edge(order, list->items[i].id, event->id);
			if (order->edge_count > count)
				order->edges[count].is_usual = is_usual;
			return;
		}
}

/*
 * NULL: the program did not initialise the semaphore, did so several times, or uses it too often;
 * or not all uses are known.
 */
static const struct walk_semaphore *order_waits_find_known(
	const struct order *order, const struct op_list *list, uint64_t address)
{
	const struct walk *walk = order->walk;
	const struct walk_semaphore *found = NULL;
	int64_t value;
	uint32_t count = 0;

	for (uint32_t i = 0; i < walk->semaphore_count; i++)
		if (walk->semaphores[i].address == address && walk->semaphores[i].is_known)
			found = &walk->semaphores[i];
	if (!found || walk->part.begin || walk->part.end)
		return NULL;
	value = found->value;
	for (uint32_t i = 0; i < list->count && value >= 0; i++) {
		const struct record_op *op = list->items[i].op;

		if (op->address != address || !is_use(op))
			continue;
		count++;
		value += op->kind == OP_SEM_POST;
		value -= is_take(op);
		/* An interrupted wait: it failed although the value was positive. */
		if (op->kind != OP_SEM_POST && op->flags & RECORD_OP_FAILED && value)
			return NULL;
	}
	return value >= 0 && count <= USES_MOST ? found : NULL;
}

static struct order_semaphore *order_waits_add_semaphore(
	struct order *order, const struct op_list *list, const struct walk_semaphore *of)
{
	struct order_semaphore *semaphore;
	uint32_t value = of->value;

	order->semaphores = realloc(
		order->semaphores, (order->semaphore_count + 1) * sizeof *order->semaphores);
	BUG_ON(!order->semaphores);
	semaphore = &order->semaphores[order->semaphore_count++];
	*semaphore = (struct order_semaphore){.address = of->address,
		.value = of->value,
		.uses = calloc(USES_MOST, sizeof *semaphore->uses)};
	BUG_ON(!semaphore->uses);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_op *op = list->items[i].op;

		if (op->address != of->address || !is_use(op))
			continue;
		semaphore->uses[semaphore->count++] = (struct order_use){.event = list->items[i].id,
			.kind = op->kind == OP_SEM_TRYWAIT ? OP_SEM_WAIT : op->kind,
			.is_try = op->kind == OP_SEM_TRYWAIT,
			.has_failed = op->flags & RECORD_OP_FAILED,
			.value = value};
		value += op->kind == OP_SEM_POST;
		value -= is_take(op);
	}
	return semaphore;
}

/*
 * If only one thread posts, the n-th wait of a thread needs at least the n-th post, minus the
 * initial value. Try-waits do not count, as they may fail.
 */
static void add_sure_edges(struct order *order, const struct order_semaphore *semaphore)
{
	uint32_t *takes = calloc(order->thread_count + 1u, sizeof *takes);
	uint32_t poster = NONE;

	BUG_ON(!takes);
	for (uint32_t i = 0; i < semaphore->count; i++) {
		const struct order_use *use = &semaphore->uses[i];

		if (use->kind == OP_SEM_POST && poster != NONE && use->event.thread != poster)
			goto out;
		if (use->kind == OP_SEM_POST)
			poster = use->event.thread;
	}
	for (uint32_t i = 0; i < semaphore->count && poster != NONE; i++) {
		const struct order_use *use = &semaphore->uses[i];
		uint32_t posts;

		if (use->kind != OP_SEM_WAIT || use->has_failed || use->is_try ||
			++takes[use->event.thread] <= semaphore->value)
			continue;
		posts = takes[use->event.thread] - semaphore->value;
		for (uint32_t j = 0; j < i; j++)
			if (semaphore->uses[j].kind == OP_SEM_POST && --posts == 0)
				order_add_edge(order, semaphore->uses[j].event, use->event);
	}
out:
	free(takes);
}

static bool order_waits_is_listed(const struct order *order, uint64_t address)
{
	for (uint32_t i = 0; i < order->semaphore_count; i++)
		if (order->semaphores[i].address == address)
			return true;
	return false;
}

void order_add_semaphores(struct order *order, const struct op_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_op *op = list->items[i].op;
		const struct walk_semaphore *known =
			is_use(op) && !order_waits_is_listed(order, op->address)
				? order_waits_find_known(order, list, op->address)
				: NULL;

		if (known)
			add_sure_edges(order, order_waits_add_semaphore(order, list, known));
		if (is_take(op))
			add_wait_edge(order, list, i, order_waits_is_listed(order, op->address));
	}
}

/* ---- pthread_once() ---- */

/*
 * A thread that finds the routine done makes no step, but is still behind the end of the routine.
 */
void order_add_once(struct order *order, const struct op_list *list)
{
	const struct walk *walk = order->walk;

	for (uint32_t i = 0; i < list->count; i++)
		for (uint32_t thread = 0;
			list->items[i].op->kind == OP_ONCE_DONE && thread < order->thread_count;
			thread++)
			for (uint64_t j = 0; j < walk->threads[thread].count; j++)
				if (walk->threads[thread].events[j].kind == EVENT_ONCE &&
					walk->threads[thread].events[j].address ==
						list->items[i].op->address)
					order_add_edge(order, list->items[i].id,
						(struct event_id){(uint16_t)thread, (uint32_t)j});
}
