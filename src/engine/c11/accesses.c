/* Loads, stores, updates and fences by the rules of C11; see engine/c11.h. */
#include "engine/c11/c11_internal.h"
#include "engine/c11/robustness.h"

static const struct c11_store *accesses_access_newest(const struct c11_location *location)
{
	return &location->stores[location->count - 1];
}

void c11_settle(void)
{
	struct c11_location *location = &c11.locations[c11.pending_location];
	struct c11_store *store = &location->stores[c11.pending_store];
	const uint8_t kind = c11.pending_kind;

	c11.pending_kind = C11_NOTHING;
	switch (kind) {
	case C11_OLD_LOAD: /* another value is that of an unseen store */
		if (c11_peek(location) == store->value)
			c11_poke(location, accesses_access_newest(location)->value);
		return;
	case C11_NEW_STORE:
		store->value = c11_peek(location);
		return;
	case C11_INSERTED_STORE:
		store->value = c11_peek(location);
		c11_poke(location, accesses_access_newest(location)->value);
		return;
	default:
		return;
	}
}

static void accesses_access_set_pending(enum c11_pending_kind kind,
	const struct c11_location *location, const struct c11_store *store)
{
	c11.pending_kind = (uint8_t)kind;
	c11.pending_location = c11_number(location);
	c11.pending_store = (uint8_t)(store - location->stores);
}

/* `op` reads `older` and does not see the store `hidden`; if `older` is NULL, `op` is a store that
 * precedes `hidden` in modification order. */
static void accesses_access_report(
	const struct engine_op *op, const struct c11_store *hidden, const struct c11_store *older)
{
	if (!c11.delayed || c11.delayed->count++ >= DELAYED_STORES_MOST)
		return;
	c11.delayed->items[c11.delayed->count - 1] = (struct delayed_store){
		.writer = hidden->writer,
		.observer = engine_current()->id,
		.bytes = (uint16_t)op->bytes,
		.is_read = older,
		.is_unseen = true,
		.site = hidden->site,
		.step = hidden->step,
		.read_step = older && older->site ? older->step : UINT64_MAX,
		.observer_site = op->site,
		.observer_step = engine_step() - 1,
		.address = (uint64_t)(uintptr_t)op->address,
		.value = hidden->value,
		.old_value = older ? older->value : 0,
	};
}

static uint32_t accesses_access_least_stamp(uint8_t order, uint16_t number)
{
	const uint32_t own = c11_self()->now.stamps[number];
	const uint32_t sequential = c11.sequential.stamps[number];

	return order == ORDER_SEQUENTIAL && sequential > own ? sequential : own;
}

/* Returns one of the ages, as the strategy chooses. The age of a store is the number of newer
 * ones; ages[0] is 0. An access without a point reads the newest store. */
static uint32_t accesses_access_choose_age(const uint32_t *ages, uint32_t count, bool is_point)
{
	struct c11_thread *self = c11_self();
	uint32_t age = 0;

	if (is_point && count > 1 && self->old_reads >= C11_OLD_READS_MOST)
		engine_note_feature(FEATURE_WAIT_CUT);
	else if (is_point && count > 1 && engine_may_choose_weakly())
		age = ages[engine_choose_value(count)];
	if (age)
		engine_note_weak_choice();
	self->old_reads = age ? self->old_reads + 1 : 0;
	return age;
}

static void accesses_access_note_read(const struct engine_op *op,
	const struct c11_location *location, const struct c11_store *store)
{
	c11_path_read(store, op->order);
	c11.messages_of_access.read = c11_message_number(location, store);
	c11.messages_of_access.is_of_all = !store->site && c11.has_lost;
}

struct store_messages c11_take_messages(void)
{
	const struct store_messages messages = c11.messages_of_access;

	c11.messages_of_access = (struct store_messages){0};
	return messages;
}

/* Memory holds the value of the chosen store, until c11_settle(). */
static void accesses_access_show_old(
	const struct engine_op *op, struct c11_location *location, const struct c11_store *store)
{
	if (store == accesses_access_newest(location))
		return;
	accesses_access_report(op, store + 1, store);
	c11_poke(location, store->value);
	accesses_access_set_pending(C11_OLD_LOAD, location, store);
}

static void accesses_access_load(
	const struct engine_op *op, struct c11_location *location, bool is_point)
{
	const uint16_t number = c11_number(location);
	const uint32_t least = accesses_access_least_stamp(op->order, number);
	const struct c11_store *store = accesses_access_newest(location);
	uint32_t ages[C11_STORES], count = 0;

	while (count < location->count && (!count || store[-(int)count].stamp >= least)) {
		ages[count] = count;
		count++;
	}
	store -= accesses_access_choose_age(ages, count, is_point);
	c11_raise(&c11_self()->now, number, store->stamp);
	c11_receive(c11_message(location, store), op->order);
	accesses_access_note_read(op, location, store);
	accesses_access_show_old(op, location, store);
}

/* Returns the index of the store before which the new one comes in modification order; the
 * strategy chooses among those that the thread's view permits. */
static uint32_t accesses_access_index(const struct engine_op *op,
	const struct c11_location *location, bool is_point, uint32_t *stamp)
{
	const uint32_t least = accesses_access_least_stamp(op->order, c11_number(location));
	uint32_t stamps[C11_STORES], indices[C11_STORES], count = 0, chosen;

	for (uint32_t i = location->count - 1; i > 0 && location->stores[i].stamp > least; i--) {
		const uint32_t before = location->stores[i - 1].stamp;
		const uint32_t from = before > least ? before : least;

		if (location->stores[i].stamp - from <
			2) { /* an update follows the store that it read */
			if (!location->stores[i].is_update)
				engine_note_feature(FEATURE_HISTORY_CUT);
			continue;
		}
		indices[count] = i;
		stamps[count++] = from + (location->stores[i].stamp - from) / 2;
	}
	chosen = is_point && count && engine_may_choose_weakly() ? engine_choose_value(count + 1)
								 : 0;
	if (chosen)
		engine_note_weak_choice();
	*stamp = chosen ? stamps[chosen - 1] : (c11.stamp += C11_STAMP_STEP);
	return chosen ? indices[chosen - 1] : location->count;
}

/* The newest store of the thread whose release sequence its later relaxed stores continue. */
static const struct c11_store *accesses_access_own_release(const struct c11_location *location)
{
	for (uint32_t i = location->count; i-- > 0;)
		if (thread_same(location->stores[i].writer, engine_current()->id))
			return location->stores[i].is_release ? &location->stores[i] : NULL;
	return NULL;
}

static void accesses_access_add_message(
	struct c11_location *location, struct c11_store *store, const struct c11_view *message)
{
	struct c11_view *own = c11_message(location, store);

	if (!message)
		return;
	if (own)
		c11_join(own, message);
	else
		c11_copy(c11_message_new(location, store), message);
}

/* Adds a store. `read`: the message of the store that an update has read; else NULL. */
static void accesses_access_store(const struct engine_op *op, struct c11_location *location,
	uint32_t index, uint32_t stamp, const struct c11_view *read)
{
	struct c11_thread *self = c11_self();
	const struct c11_store *sequence =
		order_releases(op->order) ? NULL : accesses_access_own_release(location);
	const struct c11_view *own = sequence ? c11_message(location, sequence) : NULL;
	const uint16_t number = c11_number(location);
	struct c11_store *store;
	struct c11_view received;

	if (read) /* a full history may lose the store */
		c11_copy(&received, read);
	c11.messages_of_access.continued = sequence ? c11_message_number(location, sequence) : 0;
	if (own && read)
		c11_join(&received, own);
	else if (own)
		c11_copy(&received, own);
	store = c11_insert(location, index, stamp);
	store->writer = engine_current()->id;
	store->site = op->site;
	store->op = op->kind;
	store->step = (uint32_t)engine_step() - 1;
	store->is_update = op->kind == OP_ATOMIC_UPDATE;
	store->releases = order_releases(op->order);
	store->path = self->path;
	store->is_release = order_releases(op->order) || own;
	c11_raise(&self->now, number, stamp);
	if (op->order == ORDER_SEQUENTIAL)
		c11_raise(&c11.sequential, number, stamp);
	accesses_access_add_message(location, store,
		order_releases(op->order) ? &self->now
		: self->has_fenced	  ? &self->fenced
					  : NULL);
	accesses_access_add_message(location, store, own || read ? &received : NULL);
	if (store->message)
		c11_raise(c11_message(location, store), number, stamp);
	c11.messages_of_access.written = c11_message_number(location, store);
	if (store == accesses_access_newest(location)) {
		accesses_access_set_pending(C11_NEW_STORE, location, store);
		return;
	}
	if (!store->is_update)
		accesses_access_report(op, store + 1, NULL);
	accesses_access_set_pending(C11_INSERTED_STORE, location, store);
}

/* Returns whether an update that reads this store writes. */
static bool accesses_access_writes(const struct engine_op *op, const struct c11_location *location,
	const struct c11_store *store)
{
	const unsigned unused_bits = 64 - 8 * location->bytes;

	return op->exchange != EXCHANGE_OF_EXPECTED ||
	       store->value == op->argument << unused_bits >> unused_bits;
}

/* Returns whether an update may read this store. It then writes directly after the store, which no
 * other update may have done. */
static bool accesses_access_may_update(const struct engine_op *op,
	const struct c11_location *location, const struct c11_store *store)
{
	const bool writes = accesses_access_writes(op, location, store);
	const uint8_t order = writes ? op->order : op->order_of_failure;

	if (store == accesses_access_newest(location))
		return true;
	if (store->stamp < accesses_access_least_stamp(order, c11_number(location)))
		return false;
	if (!writes)
		return true;
	if (store[1].is_update)
		return false;
	if (store[1].stamp - store->stamp > 1)
		return true;
	engine_note_feature(FEATURE_HISTORY_CUT);
	return false;
}

bool c11_may_precede(
	const struct engine_op *op, const struct c11_location *location, uint32_t index)
{
	const struct c11_store *store = &location->stores[index];

	if (op->kind == OP_ATOMIC_UPDATE)
		return accesses_access_may_update(op, location, store - 1);
	return store->stamp > accesses_access_least_stamp(op->order, c11_number(location)) &&
	       (op_descriptions[op->kind].flags & OP_READ || !store->is_update);
}

static void accesses_access_update(
	const struct engine_op *op, struct c11_location *location, bool is_point)
{
	const struct c11_store *store = accesses_access_newest(location);
	uint32_t ages[C11_STORES], count = 0, stamp;

	for (uint32_t age = 0; age < location->count; age++)
		if (accesses_access_may_update(op, location, store - age))
			ages[count++] = age;
	store -= accesses_access_choose_age(ages, count, is_point);
	c11_raise(&c11_self()->now, c11_number(location), store->stamp);
	accesses_access_note_read(op, location, store);
	accesses_access_show_old(op, location, store);
	if (!accesses_access_writes(op, location, store)) {
		c11_receive(c11_message(location, store), op->order_of_failure);
		return;
	}
	c11_receive(c11_message(location, store), op->order);
	stamp = store->stamp + 1;
	if (c11.stamp < stamp)
		c11.stamp = stamp;
	accesses_access_store(op, location, (uint32_t)(store - location->stores) + 1, stamp,
		c11_message(location, store));
}

/* The location of the access. NULL: the access is made without a history. */
static struct c11_location *accesses_access_location(const struct engine_op *op, bool is_point)
{
	const bool is_plain = op->kind == OP_LOAD || op->kind == OP_STORE;
	const bool is_read = op_descriptions[op->kind].flags & OP_READ;
	struct c11_location *location;
	bool was_unseen;

	if (!op->bytes ||
		((uintptr_t)op->address & (C11_BYTES_MOST - 1)) + op->bytes > C11_BYTES_MOST ||
		op->call == CALL_FREE || (is_plain && !is_point && !is_read) ||
		c11.stamp >= C11_STAMP_MOST) {
		if (is_read) {
			c11_read_across(op);
			return NULL;
		}
		/* A store without a point is to memory that only its thread uses: no load misses it. */
		if (is_point && op->call != CALL_FREE && c11_knows(op->address, op->bytes))
			engine_note_feature(FEATURE_MIXED_CUT);
		c11_forget(op->address, op->bytes);
		return NULL;
	}
	location = c11_find(op, &was_unseen);
	if (was_unseen && (is_read || op->kind == OP_ATOMIC_UPDATE))
		c11_receive_all(op->order);
	/* A flag that only libraries set has a history, too: a value that differs from it shows that
	 * raddle did not see the store. A judged load precedes the stores after it. */
	if (!location && (op->kind != OP_LOAD || (is_point && robustness_is_on())))
		location = c11_location_new(op->address, op->bytes);
	return location;
}

static void accesses_access_perform(
	const struct engine_op *op, struct c11_location *location, bool is_point)
{
	uint32_t index, stamp;

	if (op->order == ORDER_SEQUENTIAL)
		c11_path_sequential(location);
	if (op_descriptions[op->kind].flags & OP_READ) {
		accesses_access_load(op, location, is_point);
	} else if (op->kind == OP_ATOMIC_UPDATE) {
		accesses_access_update(op, location, is_point);
	} else {
		index = accesses_access_index(op, location, is_point, &stamp);
		accesses_access_store(op, location, index, stamp, NULL);
	}
}

void c11_access(const struct engine_op *op, bool is_point)
{
	struct c11_location *location;
	uint32_t stamp;

	if (!c11_is_on())
		return;
	c11_settle();
	c11.messages_of_access = (struct store_messages){0};
	if (op->kind == OP_FENCE) {
		c11_fence(op);
		return;
	}
	location = accesses_access_location(op, is_point);
	c11.messages_of_access.is_known = location != NULL;
	if (!location) {
		if (op->kind != OP_STORE && op->kind != OP_ATOMIC_STORE && c11.has_lost)
			c11_receive(&c11.lost, op->order);
		robustness_note_unknown();
	} else if (robustness_is_on()) {
		if (is_point)
			c11.messages_of_access.missed = robustness_judge(op, location);
		stamp = accesses_access_newest(location)->stamp;
		accesses_access_perform(op, location, is_point);
		robustness_note_access(
			op, location, accesses_access_newest(location)->stamp != stamp);
	} else {
		accesses_access_perform(op, location, is_point);
	}
}
