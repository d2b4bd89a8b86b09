/* Accesses of threads to shared objects, as the descents show them. */
#include "strategies/descent/descent.h"

#include "base/hash.h"

#define EPOCHS_MOST 63u
#define SEEN_MOST (DESCENT_SEEN / 2) /* searches end because half of the table remains free */

static uint16_t descent_accesses_new_object(struct descent *descent)
{
	descent->has_grown = true;
	descent->changes++;
	if (descent->object_count + 1 < DESCENT_OBJECTS)
		descent->object_count++; /* the first one is DESCENT_WIDE */
	return (uint16_t)descent->object_count;
}

/* Number of the object if several threads access it. */
static uint16_t descent_accesses_object(struct descent *descent, uint64_t key, uint32_t slot)
{
	uint32_t at = (uint32_t)hash_mix(key) & (DESCENT_SEEN - 1);
	struct descent_seen *seen;

	if (!key)
		return DESCENT_PRIVATE;
	while (descent->seen[at].key && descent->seen[at].key != key)
		at = (at + 1) & (DESCENT_SEEN - 1);
	seen = &descent->seen[at];
	if (!seen->key) {
		if (descent->is_fixed)
			return DESCENT_PRIVATE;
		if (descent->seen_count == SEEN_MOST)
			return DESCENT_OBJECTS - 1;
		descent->seen_count++;
		*seen = (struct descent_seen){
			.key = key, .object = DESCENT_PRIVATE, .slot = (uint8_t)slot};
	}
	if (seen->object == DESCENT_PRIVATE && seen->slot != slot && !descent->is_fixed)
		seen->object = descent_accesses_new_object(descent);
	return seen->object;
}

/* This run has threads that the descent cannot follow, or that are not known. */
static uint32_t descent_accesses_lose(struct descent *descent)
{
	if (descent->is_fixed)
		descent->is_unknown = true;
	else
		descent->is_lost = true;
	return 0;
}

uint32_t descent_add_thread(struct descent *descent, thread_name name, uint32_t creator)
{
	uint32_t slot = 0;

	while (slot < descent->slot_count && descent->names[slot] != name)
		slot++;
	if (slot == DESCENT_SLOTS || descent->known == DESCENT_SLOTS ||
		(slot == descent->slot_count && descent->is_fixed))
		return descent_accesses_lose(descent);
	if (slot == descent->slot_count) {
		descent->names[descent->slot_count++] = name;
		descent->creator[slot] = (uint8_t)creator;
		descent->has_grown = true;
	}
	descent->slot_of[descent->known] = (uint8_t)slot;
	descent->index_of[slot] = (uint8_t)descent->known++;
	descent->exists |= descent_bit(slot);
	return slot;
}

/* The end of the process waits until no other thread is enabled, as in dpor. */
static void descent_accesses_delay_exit(struct descent *descent)
{
	for (uint32_t slot = 0; slot < descent->slot_count; slot++)
		if (descent->alive >> slot & 1 && dpor_is_exit(&descent->op[slot])) {
			descent->alive &= ~descent_bit(slot);
			if (descent->enabled & ~descent_bit(slot))
				descent->enabled &= ~descent_bit(slot);
		}
}

/* A return from a wait acquires the mutex of the condition variable. */
static uint16_t descent_accesses_mutex(struct descent *descent, const struct dpor_op *op)
{
	const uint32_t lock = descent_lock_of_second(descent, op->second);

	if (op->kind != OP_COND_WAKE || !dpor_has_second(op))
		return DESCENT_PRIVATE;
	return lock == DPOR_NONE
		       ? DESCENT_WIDE
		       : descent_accesses_object(descent, descent->locks[lock], op->thread);
}

/* Returns dpor_op.second for an op that is aimed at the thread with index `second` - 1. */
static uint16_t descent_accesses_receiver(const struct descent *descent, uint16_t second)
{
	return second <= descent->known ? descent->slot_of[second - 1] + 1 : 0;
}

void descent_set_op(struct descent *descent, uint32_t slot, const struct pending_op *pending)
{
	struct dpor_op *op = &descent->op[slot];

	if (descent->read_at[slot] == descent->changes && op->object == pending->object &&
		op->kind == pending->kind && op->flags == pending->flags &&
		op->second == pending->second)
		return;
	*op = (struct dpor_op){.object = pending->object,
		.kind = pending->kind,
		.flags = pending->flags,
		.second = pending->second,
		.thread = (uint8_t)slot};
	if (op->second && dpor_is_aimed_at_threads(op))
		op->second = descent_accesses_receiver(descent, op->second);
	op->is_plain = dpor_is_plain(op);
	descent->object[slot] = dpor_is_wide_access(op) || dpor_is_aimed_at_threads(op)
					? DESCENT_WIDE
					: descent_accesses_object(descent, dpor_key(op), slot);
	descent->mutex[slot] = descent_accesses_mutex(descent, op);
	descent->read_at[slot] = descent->changes;
}

void descent_read_view(struct descent *descent, const struct schedule_view *view)
{
	while (descent->known < view->thread_count && !descent->is_lost && !descent->is_unknown)
		(void)descent_add_thread(descent, view->names[descent->known],
			descent->mover); /* the slot is kept */
	if (descent->is_lost || descent->is_unknown)
		return;
	descent->alive = descent->enabled = 0;
	for (uint32_t index = 0; index < view->thread_count; index++) {
		const uint32_t slot = descent->slot_of[index];

		if (view->pending[index].kind == OP_NONE)
			continue;
		descent->alive |= descent_bit(slot);
		if (view_is_enabled(view, index))
			descent->enabled |= descent_bit(slot);
		descent_set_op(descent, slot, &view->pending[index]);
	}
	descent_accesses_delay_exit(descent);
}

uint64_t descent_held(const struct descent *descent, uint64_t slots)
{
	uint64_t held = 0;

	for (slots &= descent_bit(descent->slot_count) - 1; slots; slots &= slots - 1)
		held |= descent->held[__builtin_ctzll(slots)];
	return held;
}

uint32_t descent_lock_of(const struct descent *descent, object_name lock)
{
	for (uint32_t i = 0; i < descent->lock_count; i++)
		if (descent->locks[i] == lock)
			return i;
	return DPOR_NONE;
}

uint32_t descent_lock_of_second(const struct descent *descent, uint16_t second)
{
	for (uint32_t i = 0; i < descent->lock_count; i++)
		if (op_second(descent->locks[i]) == second)
			return i;
	return DPOR_NONE;
}

static void descent_accesses_acquire(struct descent *descent, uint32_t slot, uint32_t lock)
{
	const uint64_t bit = lock == DPOR_NONE ? 0 : descent_bit(lock);

	for (uint32_t other = 0; other < descent->slot_count; other++)
		if (other != slot && descent->held[other] & bit)
			return; /* a try that fails */
	if (!bit)
		return;
	descent->held[slot] |= bit;
	descent->depth[lock]++;
}

static void descent_accesses_release(struct descent *descent, uint32_t slot, uint32_t lock)
{
	if (lock == DPOR_NONE || !(descent->held[slot] >> lock & 1))
		return;
	if (!--descent->depth[lock])
		descent->held[slot] &= ~descent_bit(lock);
}

static void descent_accesses_note_lock(
	struct descent *descent, uint32_t slot, const struct dpor_op *op)
{
	const uint8_t class = dpor_class_of(op);

	if (op->kind == OP_COND_WAIT)
		descent_accesses_release(
			descent, slot, descent_lock_of_second(descent, op->second));
	if (op->kind == OP_COND_WAKE)
		descent_accesses_acquire(
			descent, slot, descent_lock_of_second(descent, op->second));
	if (class != OBJECT_MUTEX && class != OBJECT_SPIN)
		return;
	if (op->flags & OP_ACQUIRE && descent_lock_of(descent, op->object) == DPOR_NONE &&
		descent->lock_count < DESCENT_LOCKS && !descent->is_fixed) {
		descent->locks[descent->lock_count++] = op->object;
		descent->changes++;
	}
	if (op->flags & OP_ACQUIRE)
		descent_accesses_acquire(descent, slot, descent_lock_of(descent, op->object));
	if (op->flags & OP_RELEASE)
		descent_accesses_release(descent, slot, descent_lock_of(descent, op->object));
}

/* Locks that another thread must not hold at the op: those held, and the one to acquire. */
static uint64_t descent_accesses_locks(
	const struct descent *descent, uint32_t slot, const struct dpor_op *op)
{
	const uint32_t lock = op->kind == OP_MUTEX_LOCK || op->kind == OP_SPIN_LOCK
				      ? descent_lock_of(descent, op->object)
				      : DPOR_NONE;

	return descent->held[slot] | (lock == DPOR_NONE ? 0 : descent_bit(lock));
}

/* Adds an access in this epoch, with these locks. Returns whether it shows anything new. */
static bool descent_accesses_widen(uint64_t *epochs, uint64_t *locks, uint64_t epoch, uint64_t held)
{
	const bool is_new = !(*epochs & epoch) || *locks & ~held;

	*locks = *epochs ? *locks & held : held;
	*epochs |= epoch;
	return is_new;
}

static void descent_accesses_learn(struct descent *descent, uint32_t slot, const struct dpor_op *op)
{
	struct descent_access *access = &descent->access[slot][descent->object[slot]];
	const uint64_t locks = descent_accesses_locks(descent, slot, op);
	const uint64_t epoch = descent_bit(descent->epoch[slot]);

	descent->accessors[descent->object[slot]] |= descent_bit(slot);
	descent->has_grown |= descent_accesses_widen(&access->epochs, &access->locks, epoch, locks);
	access->run_last = descent->ordinal[slot];
	if (descent_direction(op) != DESCENT_WRITE)
		return;
	descent->writers[descent->object[slot]] |= descent_bit(slot);
	descent->has_grown |=
		descent_accesses_widen(&access->write_epochs, &access->write_locks, epoch, locks);
	access->run_last_write = descent->ordinal[slot];
}

static void descent_accesses_note(struct descent *descent, uint32_t slot, const struct dpor_op *op)
{
	if (descent->object[slot] == DESCENT_PRIVATE)
		return;
	if (!descent->is_fixed)
		descent_accesses_learn(descent, slot, op);
	/* Releases do not count: the order of two critical sections is that of their acquisitions. */
	if (!(op->flags & OP_RELEASE))
		descent->access[slot][descent->object[slot]].done[descent_direction(op)]++;
}

static void descent_accesses_next_epoch(struct descent *descent, uint32_t slot)
{
	if (descent->epoch[slot] < EPOCHS_MOST)
		descent->epoch[slot]++;
}

static void descent_accesses_learn_join(
	struct descent *descent, uint32_t slot, const struct dpor_op *op)
{
	for (uint32_t other = 0; other < descent->slot_count; other++) {
		uint8_t *joined = &descent->joined[slot][other];

		/* A join in another epoch than before orders nothing for certain. */
		if (descent->thread_object[other] != op->object || !op->object)
			continue;
		descent->joins[slot] |= descent_bit(other);
		*joined = !*joined || *joined == descent->epoch[slot]
				  ? (uint8_t)descent->epoch[slot]
				  : EPOCHS_MOST;
	}
}

static void descent_accesses_note_thread(
	struct descent *descent, uint32_t slot, const struct dpor_op *op)
{
	/* The engine announces the object at the end of the thread, a test also at its begin. */
	if (op->object && !descent->is_fixed &&
		(op->kind == OP_THREAD_BEGIN || op->kind == OP_THREAD_EXIT))
		descent->thread_object[slot] = op->object;
	if (op->kind == OP_THREAD_CREATE || op->kind == OP_THREAD_JOIN)
		descent_accesses_next_epoch(descent, slot);
	if (op->kind == OP_THREAD_JOIN && !descent->is_fixed)
		descent_accesses_learn_join(descent, slot, op);
}

void descent_note_op(struct descent *descent, uint32_t slot)
{
	const struct dpor_op op = descent->op[slot];

	descent->ordinal[slot]++;
	descent_accesses_note_thread(
		descent, slot, &op); /* a join belongs to the epoch that it begins */
	descent_accesses_note(descent, slot, &op);
	descent_accesses_note_lock(descent, slot, &op);
	descent->mover = slot;
}

void descent_begin(struct descent *descent)
{
	descent->known = 0;
	descent->chosen = DPOR_NONE;
	descent->is_blocked = descent->is_unknown = false;
	descent->exists = descent->asleep = descent->alive = 0;
	descent->mover = descent->first = 0;
	descent->has_grown = false;
	memset(descent->depth, 0, sizeof descent->depth);
	for (uint32_t slot = 0; slot < descent->slot_count; slot++) {
		descent->ordinal[slot] = descent->epoch[slot] = 0;
		descent->held[slot] = 0;
		descent->op[slot] = (struct dpor_op){.kind = OP_NONE};
		for (uint32_t object = 0; object <= descent->object_count; object++) {
			struct descent_access *access = &descent->access[slot][object];

			access->run_last = access->run_last_write = 0;
			access->done[0] = access->done[1] = 0;
		}
	}
}

/* Returns whether a later op than known was the last one. */
static bool descent_accesses_learn_last(uint32_t *last, uint32_t run_last, bool is_first)
{
	if (run_last <= *last)
		return false;
	*last = is_first ? run_last : UINT32_MAX;
	return true;
}

void descent_end(struct descent *descent)
{
	descent->descents++;
	for (uint32_t slot = 0; slot < descent->slot_count; slot++)
		for (uint32_t object = 0; object <= descent->object_count; object++) {
			struct descent_access *access = &descent->access[slot][object];

			if (!access->epochs)
				continue;
			descent->has_grown |= descent_accesses_learn_last(
				&access->last, access->run_last, !access->runs);
			descent->has_grown |= descent_accesses_learn_last(
				&access->last_write, access->run_last_write, !access->runs);
			access->runs++;
			for (uint32_t i = 0; i < 2; i++) {
				access->total[i] += access->done[i];
				access->usual[i] = UINT64_C(256) * access->total[i] / access->runs;
			}
		}
}
