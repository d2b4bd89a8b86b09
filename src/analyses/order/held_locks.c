#include "analyses/order/held_locks.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash_table.h"

struct lock_owner {
	uint64_t address;
	uint32_t writer; /* thread holding it for writing; NOBODY */
	uint32_t readers;
	bool is_recursive; /* its holder acquired it again without blocking */
	UT_hash_handle hh;
};

#define NOBODY UINT32_MAX

struct held_list {
	struct held_lock *locks;
	uint32_t count;
};

struct held_locks {
	uint32_t thread_count;
	struct held_list *threads;
	struct lock_owner *owners;
};

struct held_locks *held_locks_new(uint32_t thread_count)
{
	struct held_locks *held = array_new(1, sizeof *held);

	held->thread_count = thread_count;
	held->threads = array_new(thread_count + 1u, sizeof *held->threads);
	return held;
}

void held_locks_free(struct held_locks *held)
{

	if (!held)
		return;
	HASH_FREE(held->owners);
	for (uint32_t i = 0; i < held->thread_count; i++)
		free(held->threads[i].locks);
	free(held->threads);
	free(held);
}

const struct held_lock *held_locks_of(
	const struct held_locks *held, uint32_t thread, uint32_t *count)
{
	*count = held->threads[thread].count;
	return held->threads[thread].locks;
}

/* Returns whether an operation of this kind acquires a lock for reading. */
static bool held_locks_op_takes_shared(enum op_kind kind)
{
	return kind == OP_RWLOCK_RDLOCK || kind == OP_RWLOCK_TRYRDLOCK;
}

static struct lock_owner *held_locks_find_owner(const struct held_locks *held, uint64_t address)
{
	struct lock_owner *owner;

	HASH_FIND(hh, held->owners, &address, sizeof address, owner);
	return owner;
}

static struct held_lock *held_locks_find_held(
	const struct held_locks *held, uint32_t thread, uint64_t address)
{
	const struct held_list *list = &held->threads[thread];

	for (uint32_t i = list->count; i--;)
		if (list->locks[i].address == address)
			return &list->locks[i];
	return NULL;
}

static void held_locks_take(struct held_locks *held, const struct trace_event *event)
{
	struct held_list *list = &held->threads[event->thread];
	struct lock_owner *owner = held_locks_find_owner(held, event->address);
	const bool is_shared = held_locks_op_takes_shared(event->kind);

	ARRAY_APPEND(list->locks, list->count,
		(struct held_lock){.address = event->address,
			.is_shared = is_shared,
			.depth = 1,
			.taken = *event});
	if (!owner) {
		owner = array_new(1, sizeof *owner);
		owner->address = event->address;
		owner->writer = NOBODY;
		HASH_ADD(hh, held->owners, address, sizeof owner->address, owner);
	}
	if (is_shared)
		owner->readers++;
	else
		owner->writer = event->thread;
}

static void held_locks_drop(struct held_locks *held, uint32_t thread, const struct held_lock *lock)
{
	struct held_list *list = &held->threads[thread];
	struct lock_owner *owner = held_locks_find_owner(held, lock->address);
	const uint32_t index = (uint32_t)(lock - list->locks);

	if (lock->is_shared)
		owner->readers--;
	else
		owner->writer = NOBODY;
	list->count--;
	for (uint32_t i = index; i < list->count; i++)
		list->locks[i] = list->locks[i + 1];
}

static void held_locks_drop_from_anybody(struct held_locks *held, uint64_t address)
{
	const struct lock_owner *owner = held_locks_find_owner(held, address);
	struct held_lock *lock;

	if (!owner || owner->writer == NOBODY)
		return;
	lock = held_locks_find_held(held, owner->writer, address);
	if (lock)
		held_locks_drop(held, owner->writer, lock);
}

static bool held_locks_is_attempt(enum op_kind kind)
{
	return !(op_descriptions[kind].flags & OP_MAYBLOCK);
}

static bool held_locks_takes_lock(const struct trace_event *event)
{
	/* COND_WAKE ends a wait without a signal; its mutex is acquired by a later event. */
	return event->address && op_descriptions[event->kind].flags & OP_ACQUIRE &&
	       event->kind != OP_COND_WAKE;
}

enum lock_effect held_locks_effect(const struct held_locks *held, const struct trace_event *event)
{
	const struct lock_owner *owner;

	if (!held_locks_takes_lock(event) ||
		held_locks_find_held(held, event->thread, event->address))
		return LOCK_NOTHING;
	owner = held_locks_find_owner(held, event->address);
	if (owner && (owner->writer != NOBODY ||
			     (owner->readers && !held_locks_op_takes_shared(event->kind))))
		return LOCK_NOTHING;
	return held_locks_is_attempt(event->kind) ? LOCK_TAKEN : LOCK_WAITED_FOR;
}

/* Handles a repeated acquisition. A failed attempt at a non-recursive mutex has the same events. */
static void held_locks_take_again(
	struct held_locks *held, struct held_lock *lock, const struct trace_event *event)
{
	struct lock_owner *owner = held_locks_find_owner(held, event->address);

	owner->is_recursive |= !held_locks_is_attempt(event->kind);
	if (owner->is_recursive || lock->is_shared || event->kind == OP_FILE_TRYLOCK)
		lock->depth++;
}

static void held_locks_release(struct held_locks *held, uint32_t thread, uint64_t address)
{
	struct held_lock *lock = held_locks_find_held(held, thread, address);

	if (!lock)
		held_locks_drop_from_anybody(held, address);
	else if (!--lock->depth)
		held_locks_drop(held, thread, lock);
}

void held_locks_add(struct held_locks *held, const struct trace_event *event, uint64_t released)
{
	const enum lock_effect effect = held_locks_effect(held, event);
	struct held_lock *lock;

	if (held_locks_takes_lock(event)) {
		lock = held_locks_find_held(held, event->thread, event->address);
		if (effect != LOCK_NOTHING)
			held_locks_take(held, event);
		else if (lock)
			held_locks_take_again(held, lock, event);
		return;
	}
	if (op_descriptions[event->kind].flags & OP_RELEASE) {
		held_locks_release(held, event->thread, event->address);
		return;
	}
	switch (event->kind) {
	case OP_COND_WAIT:
		lock = released ? held_locks_find_held(held, event->thread, released) : NULL;
		if (lock)
			held_locks_drop(held, event->thread, lock);
		break;
	case OP_MUTEX_DESTROY:
	case OP_RWLOCK_DESTROY:
		held_locks_drop_from_anybody(held, event->address);
		break;
	case OP_THREAD_EXIT:
		/*
		 * An exited thread keeps its locks but makes no request that could close a cycle.
		 */
		while (held->threads[event->thread].count)
			held_locks_drop(held, event->thread, held->threads[event->thread].locks);
		break;
	default:
		break;
	}
}

uint64_t waited_mutex(
	const struct trace_event *events, const uint32_t *next, uint32_t count, uint32_t wait)
{
	for (uint32_t i = next[wait]; i < count; i = next[i]) {
		if (events[i].kind == OP_MUTEX_LOCK && events[i].site == events[wait].site)
			return events[i].address;
		if (events[i].kind != OP_COND_WAKE)
			return 0;
	}
	return 0;
}
