#include "investigate/minimise/conflicts.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

/* Operations at the end of the run which those that did not happen must not precede. */
#define LAST_OPS 16

/* More than one entry per operation, so that searches end. */
#define SLOTS (2 * CONFLICTS_OPS_MOST)

/* Latest operations of one thread on one object. Positions are 1 + an index in the run; 0: none. */
struct conflicts_entry {
	object_name object;
	uint32_t count; /* number of the last operation */
	uint32_t last, last_write;
	uint32_t number_of_write; /* number of the last write */
	uint32_t next;		  /* 1 + entry of another thread for the object; 0: none */
	uint16_t thread;
};

struct conflicts {
	struct conflicts_entry *entries;
	uint32_t entry_count;
	uint32_t *slots; /* by object: 1 + the first entry; 0: free */
	struct replay_order *orders;
	uint32_t order_count;
};

struct replay_op *conflicts_ops(struct replay_orders *observed, uint32_t *count)
{
	const uint32_t total = observed->op_count;
	struct replay_op *ops;

	*count = total < CONFLICTS_OPS_MOST ? total : CONFLICTS_OPS_MOST;
	ops = array_new(*count, sizeof *ops);
	for (uint32_t i = 0; i < *count; i++)
		ops[i] = replay_orders_ops(observed)[(total - *count + i) % CONFLICTS_OPS_MOST];
	return ops;
}

static uint32_t *conflicts_slot(struct conflicts *conflicts, object_name object)
{
	uint32_t slot = (uint32_t)hash_mix(object) % SLOTS;

	while (conflicts->slots[slot] &&
		conflicts->entries[conflicts->slots[slot] - 1].object != object)
		slot = (slot + 1) % SLOTS;
	return &conflicts->slots[slot];
}

static struct conflicts_entry *conflicts_entry_of(
	struct conflicts *conflicts, const struct replay_op *op)
{
	uint32_t *slot = conflicts_slot(conflicts, op->object);
	struct conflicts_entry *entry;

	for (uint32_t i = *slot; i; i = conflicts->entries[i - 1].next)
		if (conflicts->entries[i - 1].thread == op->thread)
			return &conflicts->entries[i - 1];
	entry = &conflicts->entries[conflicts->entry_count++];
	*entry =
		(struct conflicts_entry){.object = op->object, .thread = op->thread, .next = *slot};
	*slot = conflicts->entry_count;
	return entry;
}

/* Adds the latest operation of each other thread that conflicts with this one of `own`. */
static void conflicts_add_orders(struct conflicts *conflicts, const struct replay_op *op,
	const struct conflicts_entry *own, const thread_name *names)
{
	for (uint32_t i = *conflicts_slot(conflicts, op->object); i;) {
		const struct conflicts_entry *other = &conflicts->entries[i - 1];
		const uint32_t at = op->is_read ? other->last_write : other->last;
		/* Operations of `own` after that one which conflict with that one order both. */
		const uint32_t own_last = at == other->last_write ? own->last : own->last_write;

		i = other->next;
		if (other == own || !at || own_last > at)
			continue;
		ARRAY_APPEND(conflicts->orders, conflicts->order_count,
			(struct replay_order){
				.object = op->object,
				.first = names[other->thread],
				.second = names[op->thread],
				.first_number = op->is_read ? other->number_of_write : other->count,
				.second_number = op->number,
			});
	}
}

static void conflicts_add_unless_known(struct conflicts *conflicts, struct replay_order order)
{
	for (uint32_t i = 0; i < conflicts->order_count; i++) {
		const struct replay_order *known = &conflicts->orders[i];

		if (known->object == order.object && known->first == order.first &&
			known->second == order.second &&
			known->first_number == order.first_number &&
			known->second_number == order.second_number)
			return;
	}
	ARRAY_APPEND(conflicts->orders, conflicts->order_count, order);
}

static uint32_t conflicts_count_of(
	struct conflicts *conflicts, object_name object, uint32_t thread, bool *is_written)
{
	uint32_t count = 0;

	for (uint32_t i = *conflicts_slot(conflicts, object); i;) {
		const struct conflicts_entry *entry = &conflicts->entries[i - 1];

		*is_written |= entry->last_write > 0;
		if (entry->thread == thread)
			count = entry->count;
		i = entry->next;
	}
	return count;
}

/* The failure may depend on what the other threads have not done yet: their next operation on the
 * object of `op` comes later. */
static void conflicts_add_next_operations(struct conflicts *conflicts, const struct replay_op *op,
	const thread_name *names, uint32_t thread_count)
{
	bool is_written = false;
	struct replay_order order = {.object = op->object, .first = names[op->thread]};

	order.first_number = conflicts_count_of(conflicts, op->object, op->thread, &is_written);
	for (uint32_t thread = 0; thread < thread_count && is_written; thread++) {
		order.second = names[thread];
		order.second_number =
			1 + conflicts_count_of(conflicts, op->object, thread, &is_written);
		if (thread != op->thread)
			conflicts_add_unless_known(conflicts, order);
	}
}

struct conflicts_ranked {
	struct replay_order order;
	uint32_t frequency, position; /* number of orders of the object; position in the run */
};

static int conflicts_compare(const void *a, const void *b)
{
	const struct conflicts_ranked *one = a, *other = b;

	if (one->frequency != other->frequency)
		return one->frequency > other->frequency ? -1 : 1;
	return one->position < other->position ? -1 : 1;
}

static int conflicts_compare_objects(const void *a, const void *b)
{
	const struct conflicts_ranked *one = a, *other = b;

	if (one->order.object != other->order.object)
		return one->order.object < other->order.object ? -1 : 1;
	return one->position < other->position ? -1 : 1;
}

/* Objects with few conflicts decide a failure more often than a lock taken a thousand times. */
static void conflicts_rank(struct replay_order *orders, uint32_t *count)
{
	struct conflicts_ranked *ranked = array_new(*count, sizeof *ranked);
	const uint32_t kept = *count < REPLAY_ORDERS_MOST ? *count : REPLAY_ORDERS_MOST;

	for (uint32_t i = 0; i < *count; i++)
		ranked[i] = (struct conflicts_ranked){.order = orders[i], .position = i};
	qsort(ranked, *count, sizeof *ranked, conflicts_compare_objects);
	for (uint32_t i = 0, end; i < *count; i = end) {
		for (end = i; end < *count && ranked[end].order.object == ranked[i].order.object;)
			end++;
		for (uint32_t j = i; j < end; j++)
			ranked[j].frequency = end - i;
	}
	qsort(ranked, *count, sizeof *ranked, conflicts_compare);
	for (uint32_t i = 0; i < kept; i++)
		orders[i] = ranked[*count - kept + i].order;
	*count = kept;
	free(ranked);
}

static bool conflicts_is_contended(struct conflicts *conflicts, object_name object)
{
	bool is_written = false;
	uint32_t threads = 0;

	for (uint32_t i = *conflicts_slot(conflicts, object); i;
		i = conflicts->entries[i - 1].next) {
		threads++;
		is_written |= conflicts->entries[i - 1].last_write > 0;
	}
	return threads > 1 && is_written;
}

static int conflicts_compare_last(const void *a, const void *b)
{
	const struct conflicts_entry *one = a, *other = b;

	return one->last < other->last ? -1 : one->last > other->last;
}

/* Notes the last operation, and the last write, of each thread on each object. */
static void conflicts_note(
	struct conflicts *conflicts, const struct replay_op *ops, uint32_t op_count)
{
	*conflicts = (struct conflicts){
		.entries = array_new(op_count, sizeof *conflicts->entries),
		.slots = array_new(SLOTS, sizeof *conflicts->slots),
	};
	for (uint32_t i = 0; i < op_count; i++) {
		struct conflicts_entry *entry = conflicts_entry_of(conflicts, &ops[i]);

		entry->last = i + 1;
		if (!ops[i].is_read)
			entry->last_write = i + 1;
	}
}

bool *conflicts_contended(const struct replay_op *ops, uint32_t op_count)
{
	bool *contended = array_new(op_count, sizeof *contended);
	struct conflicts conflicts;

	conflicts_note(&conflicts, ops, op_count);
	for (uint32_t i = 0; i < op_count; i++)
		contended[i] = conflicts_is_contended(&conflicts, ops[i].object);
	free(conflicts.entries);
	free(conflicts.slots);
	return contended;
}

struct replay_watch *conflicts_watch(const struct replay_op *ops, uint32_t op_count,
	const thread_name *names, uint32_t thread_count, uint32_t *count)
{
	struct replay_watch *watched = array_new(op_count, sizeof *watched);
	struct conflicts_entry *contended = array_new(op_count, sizeof *contended);
	struct conflicts conflicts;
	uint32_t known = 0;

	*count = 0;
	while (known < op_count && ops[known].thread < thread_count)
		known++; /* a wild write of the target may leave another thread */
	conflicts_note(&conflicts, ops, known);
	for (uint32_t i = 0; i < conflicts.entry_count; i++)
		if (conflicts_is_contended(&conflicts, conflicts.entries[i].object))
			contended[(*count)++] = conflicts.entries[i];
	qsort(contended, *count, sizeof *contended, conflicts_compare_last);
	for (uint32_t i = 0; i < *count; i++)
		watched[i] = (struct replay_watch){names[contended[i].thread], contended[i].object};
	free(contended);
	free(conflicts.entries);
	free(conflicts.slots);
	return watched;
}

struct replay_order *conflicts_collect(const struct replay_op *ops, uint32_t op_count,
	uint32_t pending_count, const thread_name *names, uint32_t thread_count, uint32_t *count)
{
	struct conflicts conflicts = {
		.entries = array_new(op_count, sizeof *conflicts.entries),
		.slots = array_new(SLOTS, sizeof *conflicts.slots),
	};

	for (uint32_t i = 0; i < op_count; i++)
		if (ops[i].thread >= thread_count)
			op_count = pending_count = 0; /* a wild write of the target */
	for (uint32_t i = 0; i < op_count; i++) {
		struct conflicts_entry *own;

		own = conflicts_entry_of(&conflicts, &ops[i]);
		conflicts_add_orders(&conflicts, &ops[i], own, names);
		if (i + pending_count >= op_count)
			continue;
		own->count = ops[i].number;
		own->last = i + 1;
		if (!ops[i].is_read) {
			own->last_write = i + 1;
			own->number_of_write = own->count;
		}
	}
	for (uint32_t i = 0; i < LAST_OPS && i + pending_count < op_count; i++)
		conflicts_add_next_operations(
			&conflicts, &ops[op_count - pending_count - 1 - i], names, thread_count);
	*count = conflicts.order_count;
	conflicts_rank(conflicts.orders, count);
	free(conflicts.entries);
	free(conflicts.slots);
	return conflicts.orders;
}
