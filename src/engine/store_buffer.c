/* See store_buffer.h. The buffers are part of a rewind's image. */
#include "engine/store_buffer.h"

#include "engine/engine_internal.h"
#include "model/thread_name.h"

/* x86 processors have 40 to 80 entries. Later threads have no buffer: their stores are
 * sequentially consistent. */
#define STORES_MOST 64
#define BUFFERS_MOST 64
#define STORE_BYTES_MOST 16

struct buffered_store {
	unsigned char *address;
	uint64_t site;
	uint64_t passing_site; /* the first read that passed the store; 0: none */
	object_name object, next_object;
	uint64_t step;	/* of the run, as in the trace */
	uint16_t steps; /* engine_thread.steps at the store */
	uint8_t bytes;
	bool is_point;
	bool is_observed; /* `observed` is valid */
	/* the value that memory does not hold now: the old one while the owner's view is in memory,
	 * else the new one */
	unsigned char other_value[STORE_BYTES_MOST];
	struct delayed_store observed;
};

struct store_buffer {
	struct engine_thread *owner, *drainer;
	struct engine_op drain; /* the drainer's pending op */
	uint32_t first, count;
	struct buffered_store stores[STORES_MOST];
};

static struct store_buffer store_buffers[BUFFERS_MOST];

static struct store_buffer *store_buffer_of(const struct engine_thread *thread)
{
	return thread->store_buffer ? &store_buffers[thread->store_buffer - 1] : NULL;
}

static struct buffered_store *store_buffer_at(struct store_buffer *buffer, uint32_t number)
{
	return &buffer->stores[(buffer->first + number) % STORES_MOST];
}

bool engine_has_store_buffers(void)
{
	return engine.is_live && engine.run.memory_model == MEMORY_MODEL_TSO;
}

uint32_t engine_drainer_count(void)
{
	return engine.store_buffer_count;
}

bool engine_has_buffered(void)
{
	return engine_store_count(engine.current) != 0;
}

uint32_t engine_store_count(const struct engine_thread *thread)
{
	const struct store_buffer *buffer = store_buffer_of(thread);

	return buffer ? buffer->count : 0;
}

/* Returns whether a read of the thread would pass a store that other threads may see. */
static bool store_buffer_has_unpassed(const struct engine_thread *thread)
{
	struct store_buffer *buffer = store_buffer_of(thread);

	for (uint32_t i = 0; i < buffer->count; i++) {
		const struct buffered_store *store = store_buffer_at(buffer, i);

		if (store->is_point && !store->passing_site)
			return true;
	}
	return false;
}

bool engine_must_drain_for(const struct engine_thread *thread, const struct engine_op *op)
{
	if (!engine_store_count(thread))
		return false;
	switch (op->kind) {
	case OP_LOAD:
	case OP_ATOMIC_LOAD:
		return store_buffer_has_unpassed(thread) && !engine_may_choose_weakly();
	case OP_SPIN:
	case OP_DRAIN:
		return false;
	default:
		return true;
	}
}

static void store_buffer_exchange(struct buffered_store *store)
{
	for (unsigned i = 0; i < store->bytes; i++) {
		const unsigned char byte = store->address[i];

		store->address[i] = store->other_value[i];
		store->other_value[i] = byte;
	}
}

static void store_buffer_hide(struct store_buffer *buffer)
{
	for (uint32_t i = buffer->count; i-- > 0;)
		store_buffer_exchange(store_buffer_at(buffer, i));
}

static void store_buffer_show(struct store_buffer *buffer)
{
	for (uint32_t i = 0; i < buffer->count; i++)
		store_buffer_exchange(store_buffer_at(buffer, i));
}

void engine_exchange_buffers(const struct engine_thread *from, const struct engine_thread *to)
{
	struct store_buffer *hidden = store_buffer_of(from), *shown = store_buffer_of(to);

	if (hidden)
		store_buffer_hide(hidden);
	if (shown)
		store_buffer_show(shown);
}

static bool store_overlaps(const struct buffered_store *store, uintptr_t start, size_t bytes)
{
	const uintptr_t address = (uintptr_t)store->address;

	return address < start + bytes && start < address + store->bytes;
}

static uint64_t store_buffer_word(const unsigned char *from, unsigned bytes)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < bytes && i < sizeof word; i++)
		word |= (uint64_t)from[i] << 8 * i;
	return word;
}

/* A store that was both passed and observed is delayed visibly. */
static void store_buffer_report(const struct buffered_store *store)
{
	struct delayed_stores *delayed = engine.run.delayed;

	if (!delayed || !store->is_observed || !store->passing_site ||
		delayed->count++ >= DELAYED_STORES_MOST)
		return;
	delayed->items[delayed->count - 1] = store->observed;
	delayed->items[delayed->count - 1].passing_site = store->passing_site;
}

static void store_buffer_pass(struct store_buffer *buffer, const struct engine_op *op)
{
	bool is_weak = false;

	for (uint32_t i = 0; i < buffer->count; i++) {
		struct buffered_store *store = store_buffer_at(buffer, i);

		if (store->passing_site || store_overlaps(store, (uintptr_t)op->address, op->bytes))
			continue;
		store->passing_site = op->site;
		is_weak |= store->is_point;
		store_buffer_report(store);
	}
	if (is_weak)
		engine_note_weak_choice();
}

/* The store's owner does not move: memory holds the value that the observer sees. */
static void store_buffer_observe(struct buffered_store *store, const struct engine_thread *owner,
	const struct engine_thread *observer, const struct engine_op *op)
{
	const bool is_read = op_descriptions[op->kind].flags & OP_READ;
	const uint64_t old_value = store_buffer_word(store->address, store->bytes);
	const uint64_t value = store_buffer_word(store->other_value, store->bytes);

	if (store->is_observed || !store->is_point || (is_read && value == old_value))
		return;
	store->is_observed = true;
	store->observed = (struct delayed_store){.writer = owner->id,
		.observer = observer->id,
		.bytes = store->bytes,
		.is_read = is_read,
		.site = store->site,
		.step = store->step,
		.read_step = UINT64_MAX,
		.observer_site = op->site,
		.observer_step = engine.step - 1,
		.address = (uint64_t)(uintptr_t)store->address,
		.value = value,
		.old_value = old_value};
	store_buffer_report(store);
}

/* `op` of `self`, whose view may be in memory, reads or writes memory that all threads see. */
static void store_buffer_note(const struct engine_thread *self, const struct engine_op *op)
{
	for (uint32_t i = 0; i < engine.store_buffer_count; i++) {
		struct store_buffer *buffer = &store_buffers[i];

		if (buffer->owner == self)
			continue;
		for (uint32_t number = buffer->count; number-- > 0;) {
			struct buffered_store *store = store_buffer_at(buffer, number);

			if (store_overlaps(store, (uintptr_t)op->address, op->bytes))
				store_buffer_observe(store, buffer->owner, self, op);
		}
	}
}

void engine_note_direct_access(const struct engine_op *op)
{
	struct store_buffer *own = store_buffer_of(engine.current);

	if (own && op_descriptions[op->kind].flags & OP_READ)
		store_buffer_pass(own, op);
	if (engine.store_buffer_count)
		store_buffer_note(engine.current, op);
}

/* Sets the drainer's pending op to the drain of the oldest store. */
static void store_buffer_announce(struct store_buffer *buffer)
{
	const struct buffered_store *oldest = store_buffer_at(buffer, 0);

	buffer->drain = (struct engine_op){.kind = OP_DRAIN,
		.address = oldest->address,
		.site = oldest->site,
		.object = oldest->object,
		.next_object = oldest->next_object,
		.bytes = oldest->bytes,
		.second = oldest->steps,
		.deadline_ns = ENGINE_FOREVER};
	engine_announce(buffer->drainer, &buffer->drain);
}

/* Removes the oldest store, whose value all threads see from now on. */
static void store_buffer_commit(struct store_buffer *buffer)
{
	struct store_buffer *shown = store_buffer_of(engine.current);
	const struct buffered_store *oldest = store_buffer_at(buffer, 0);

	if (shown != buffer) {
		if (shown)
			store_buffer_hide(shown);
		for (unsigned i = 0; i < oldest->bytes; i++)
			oldest->address[i] = oldest->other_value[i];
		if (shown)
			store_buffer_show(shown);
	}
	buffer->first = (buffer->first + 1) % STORES_MOST;
	buffer->count--;
}

/* Removes `count` stores, and those that follow them without a step of their own. */
static void store_buffer_drain(struct store_buffer *buffer, uint32_t count)
{
	for (; count || (buffer->count && !store_buffer_at(buffer, 0)->is_point);
		count -= count > 0)
		store_buffer_commit(buffer);
	engine_withdraw(buffer->drainer);
	if (buffer->count)
		store_buffer_announce(buffer);
	else
		engine_evaluate(buffer->owner);
}

void engine_drain(struct engine_thread *drainer)
{
	struct store_buffer *buffer = store_buffer_of(drainer);

	store_buffer_note(buffer->owner, &buffer->drain);
	store_buffer_drain(buffer, 1);
}

void engine_drain_freed(const void *start, size_t bytes)
{
	for (uint32_t i = 0; i < engine.store_buffer_count; i++) {
		struct store_buffer *buffer = &store_buffers[i];
		uint32_t count = buffer->count;

		while (count && !store_overlaps(store_buffer_at(buffer, count - 1),
					(uintptr_t)start, bytes))
			count--;
		if (count)
			store_buffer_drain(buffer, count);
	}
}

/* Gives the moving thread a buffer. Returns NULL if no buffer is left. */
static struct store_buffer *store_buffer_new(void)
{
	struct engine_thread *owner = engine.current;
	struct store_buffer *buffer = &store_buffers[engine.store_buffer_count];
	struct engine_thread *drainer;

	if (engine.store_buffer_count == BUFFERS_MOST || engine.thread_count == THREAD_CAPACITY)
		return NULL;
	drainer = engine_thread_slot();
	buffer->owner = owner;
	buffer->drainer = drainer;
	buffer->first = buffer->count = 0;
	owner->store_buffer = drainer->store_buffer = (uint8_t)++engine.store_buffer_count;
	drainer->state = THREAD_DRAINER;
	drainer->parent = owner->id;
	drainer->ordinal = THREAD_ORDINAL_DRAINER;
	drainer->name = thread_name_child(owner->name, THREAD_ORDINAL_DRAINER);
	engine.names[drainer->id.index] = drainer->name;
	engine.handles[drainer->id.index] = UINTPTR_MAX; /* equals no pthread_t */
	return buffer;
}

bool engine_buffer_store(const struct engine_op *op, bool is_point)
{
	struct store_buffer *buffer = store_buffer_of(engine.current);
	struct buffered_store *store;

	if (op->bytes > STORE_BYTES_MOST)
		return false;
	if (!buffer)
		buffer = store_buffer_new();
	if (!buffer || buffer->count == STORES_MOST)
		return false;
	store = store_buffer_at(buffer, buffer->count);
	*store = (struct buffered_store){.address = (unsigned char *)(uintptr_t)op->address,
		.site = op->site,
		.object = op->object,
		.next_object = op->next_object,
		.step = engine.step - 1,
		.steps = engine.current->steps,
		.bytes = (uint8_t)op->bytes,
		.is_point = is_point};
	for (unsigned i = 0; i < store->bytes; i++)
		store->other_value[i] = store->address[i];
	if (!buffer->count++) {
		buffer->drainer->last_moved = engine.step;
		store_buffer_announce(buffer);
	}
	return true;
}
