/* Accesses of threads to shared objects, as the descents show them. */
#include "strategies/dpor/estimate.h"

#include "base/hash.h"

#define EPOCHS_MOST 63u
#define SEEN_MOST (ESTIMATE_SEEN / 2) /* searches end because half of the table remains free */

static uint16_t estimate_accesses_new_object(struct estimate *estimate)
{
	estimate->has_grown = true;
	if (estimate->object_count + 1 < ESTIMATE_OBJECTS)
		estimate->object_count++; /* the first one is ESTIMATE_WIDE */
	return (uint16_t)estimate->object_count;
}

/* Number of the object if several threads access it. */
static uint16_t estimate_accesses_object(struct estimate *estimate, uint64_t key, uint32_t slot)
{
	uint32_t at = (uint32_t)hash_mix(key) & (ESTIMATE_SEEN - 1);
	struct estimate_seen *seen;

	if (!key)
		return ESTIMATE_PRIVATE;
	while (estimate->seen[at].key && estimate->seen[at].key != key)
		at = (at + 1) & (ESTIMATE_SEEN - 1);
	seen = &estimate->seen[at];
	if (!seen->key) {
		if (estimate->seen_count == SEEN_MOST)
			return ESTIMATE_OBJECTS - 1;
		estimate->seen_count++;
		*seen = (struct estimate_seen){
			.key = key, .object = ESTIMATE_PRIVATE, .slot = (uint8_t)slot};
	}
	if (seen->object == ESTIMATE_PRIVATE && seen->slot != slot)
		seen->object = estimate_accesses_new_object(estimate);
	return seen->object;
}

static uint32_t estimate_accesses_slot(struct estimate *estimate, thread_name name)
{
	uint32_t slot = 0;

	while (slot < estimate->slot_count && estimate->names[slot] != name)
		slot++;
	if (slot == ESTIMATE_SLOTS) {
		estimate->is_lost = true;
		return 0;
	}
	if (slot == estimate->slot_count) {
		estimate->names[estimate->slot_count++] = name;
		estimate->creator[slot] = (uint8_t)estimate->mover;
		estimate->has_grown = true;
	}
	return slot;
}

static void estimate_accesses_add_threads(
	struct estimate *estimate, const struct schedule_view *view)
{
	for (; estimate->known < view->thread_count; estimate->known++) {
		const uint32_t slot =
			estimate_accesses_slot(estimate, view->names[estimate->known]);

		if (estimate->known == ESTIMATE_SLOTS)
			estimate->is_lost = true;
		if (estimate->is_lost)
			return;
		estimate->slot_of[estimate->known] = (uint8_t)slot;
		estimate->index_of[slot] = (uint8_t)estimate->known;
		estimate->exists |= estimate_bit(slot);
	}
}

/* The end of the process waits until no other thread is enabled, as in dpor. */
static void estimate_accesses_delay_exit(struct estimate *estimate)
{
	for (uint32_t slot = 0; slot < estimate->slot_count; slot++)
		if (estimate->alive >> slot & 1 && dpor_is_exit(&estimate->op[slot])) {
			estimate->alive &= ~estimate_bit(slot);
			if (estimate->enabled & ~estimate_bit(slot))
				estimate->enabled &= ~estimate_bit(slot);
		}
}

/* A return from a wait acquires the mutex of the condition variable. */
static uint16_t estimate_accesses_mutex(struct estimate *estimate, const struct dpor_op *op)
{
	const uint32_t lock = estimate_lock_of_second(estimate, op->second);

	if (op->kind != OP_COND_WAKE || !dpor_has_mutex(op))
		return ESTIMATE_PRIVATE;
	return lock == DPOR_NONE
		       ? ESTIMATE_WIDE
		       : estimate_accesses_object(estimate, estimate->locks[lock], op->thread);
}

void estimate_read_view(struct estimate *estimate, const struct schedule_view *view)
{
	estimate_accesses_add_threads(estimate, view);
	if (estimate->is_lost)
		return;
	estimate->alive = estimate->enabled = 0;
	for (uint32_t index = 0; index < view->thread_count; index++) {
		const struct pending_op *pending = &view->pending[index];
		const uint8_t slot = estimate->slot_of[index];
		struct dpor_op *op = &estimate->op[slot];

		if (pending->kind == OP_NONE)
			continue;
		estimate->alive |= estimate_bit(slot);
		if (view_is_enabled(view, index))
			estimate->enabled |= estimate_bit(slot);
		*op = (struct dpor_op){.object = pending->object,
			.kind = pending->kind,
			.flags = pending->flags,
			.second = pending->second,
			.thread = slot};
		op->is_plain = dpor_is_plain(op);
		estimate->object[slot] =
			dpor_is_wide_access(op)
				? ESTIMATE_WIDE
				: estimate_accesses_object(estimate, dpor_key(op), slot);
		estimate->mutex[slot] = estimate_accesses_mutex(estimate, op);
	}
	estimate_accesses_delay_exit(estimate);
}

uint64_t estimate_held(const struct estimate *estimate, uint64_t slots)
{
	uint64_t held = 0;

	for (slots &= estimate_bit(estimate->slot_count) - 1; slots; slots &= slots - 1)
		held |= estimate->held[__builtin_ctzll(slots)];
	return held;
}

uint32_t estimate_lock_of(const struct estimate *estimate, object_name lock)
{
	for (uint32_t i = 0; i < estimate->lock_count; i++)
		if (estimate->locks[i] == lock)
			return i;
	return DPOR_NONE;
}

uint32_t estimate_lock_of_second(const struct estimate *estimate, uint16_t second)
{
	for (uint32_t i = 0; i < estimate->lock_count; i++)
		if (op_second(estimate->locks[i]) == second)
			return i;
	return DPOR_NONE;
}

static void estimate_accesses_acquire(struct estimate *estimate, uint32_t slot, uint32_t lock)
{
	const uint64_t bit = lock == DPOR_NONE ? 0 : estimate_bit(lock);

	for (uint32_t other = 0; other < estimate->slot_count; other++)
		if (other != slot && estimate->held[other] & bit)
			return; /* a try that fails */
	if (!bit)
		return;
	estimate->held[slot] |= bit;
	estimate->depth[lock]++;
}

static void estimate_accesses_release(struct estimate *estimate, uint32_t slot, uint32_t lock)
{
	if (lock == DPOR_NONE || !(estimate->held[slot] >> lock & 1))
		return;
	if (!--estimate->depth[lock])
		estimate->held[slot] &= ~estimate_bit(lock);
}

static void estimate_accesses_note_lock(
	struct estimate *estimate, uint32_t slot, const struct dpor_op *op)
{
	const uint8_t class = dpor_class_of(op);

	if (op->kind == OP_COND_WAIT)
		estimate_accesses_release(
			estimate, slot, estimate_lock_of_second(estimate, op->second));
	if (op->kind == OP_COND_WAKE)
		estimate_accesses_acquire(
			estimate, slot, estimate_lock_of_second(estimate, op->second));
	if (class != OBJECT_MUTEX && class != OBJECT_SPIN)
		return;
	if (op->flags & OP_ACQUIRE && estimate_lock_of(estimate, op->object) == DPOR_NONE &&
		estimate->lock_count < ESTIMATE_LOCKS)
		estimate->locks[estimate->lock_count++] = op->object;
	if (op->flags & OP_ACQUIRE)
		estimate_accesses_acquire(estimate, slot, estimate_lock_of(estimate, op->object));
	if (op->flags & OP_RELEASE)
		estimate_accesses_release(estimate, slot, estimate_lock_of(estimate, op->object));
}

/* Locks that another thread must not hold at the op: those held, and the one to acquire. */
static uint64_t estimate_accesses_locks(
	const struct estimate *estimate, uint32_t slot, const struct dpor_op *op)
{
	const uint32_t lock = op->kind == OP_MUTEX_LOCK || op->kind == OP_SPIN_LOCK
				      ? estimate_lock_of(estimate, op->object)
				      : DPOR_NONE;

	return estimate->held[slot] | (lock == DPOR_NONE ? 0 : estimate_bit(lock));
}

/* Adds an access in this epoch, with these locks. Returns whether it shows anything new. */
static bool estimate_accesses_widen(
	uint64_t *epochs, uint64_t *locks, uint64_t epoch, uint64_t held)
{
	const bool is_new = !(*epochs & epoch) || *locks & ~held;

	*locks = *epochs ? *locks & held : held;
	*epochs |= epoch;
	return is_new;
}

static void estimate_accesses_note(
	struct estimate *estimate, uint32_t slot, const struct dpor_op *op)
{
	struct estimate_access *access;
	uint64_t locks, epoch;

	if (estimate->object[slot] == ESTIMATE_PRIVATE)
		return;
	access = &estimate->access[slot][estimate->object[slot]];
	estimate->accessors[estimate->object[slot]] |= estimate_bit(slot);
	if (estimate_direction(op) == ESTIMATE_WRITE)
		estimate->writers[estimate->object[slot]] |= estimate_bit(slot);
	locks = estimate_accesses_locks(estimate, slot, op);
	epoch = estimate_bit(estimate->epoch[slot]);
	estimate->has_grown |=
		estimate_accesses_widen(&access->epochs, &access->locks, epoch, locks);
	access->run_last = estimate->ordinal[slot];
	if (estimate_direction(op) == ESTIMATE_WRITE) {
		estimate->has_grown |= estimate_accesses_widen(
			&access->write_epochs, &access->write_locks, epoch, locks);
		access->run_last_write = estimate->ordinal[slot];
	}
	/* A release has the same order as its acquisition. */
	if (!(op->flags & OP_RELEASE))
		access->done[estimate_direction(op)]++;
}

static void estimate_accesses_next_epoch(struct estimate *estimate, uint32_t slot)
{
	if (estimate->epoch[slot] < EPOCHS_MOST)
		estimate->epoch[slot]++;
}

static void estimate_accesses_note_thread(
	struct estimate *estimate, uint32_t slot, const struct dpor_op *op)
{
	/* The engine announces the object at the end of the thread, a test also at its begin. */
	if (op->object && (op->kind == OP_THREAD_BEGIN || op->kind == OP_THREAD_EXIT))
		estimate->thread_object[slot] = op->object;
	if (op->kind == OP_THREAD_CREATE)
		estimate_accesses_next_epoch(estimate, slot);
	if (op->kind != OP_THREAD_JOIN)
		return;
	estimate_accesses_next_epoch(estimate, slot);
	for (uint32_t other = 0; other < estimate->slot_count; other++) {
		uint8_t *joined = &estimate->joined[slot][other];

		/* A join in another epoch than before orders nothing for certain. */
		if (estimate->thread_object[other] != op->object || !op->object)
			continue;
		estimate->joins[slot] |= estimate_bit(other);
		*joined = !*joined || *joined == estimate->epoch[slot]
				  ? (uint8_t)estimate->epoch[slot]
				  : EPOCHS_MOST;
	}
}

void estimate_note_op(struct estimate *estimate, uint32_t slot)
{
	const struct dpor_op op = estimate->op[slot];

	estimate->ordinal[slot]++;
	estimate_accesses_note_thread(
		estimate, slot, &op); /* a join belongs to the epoch that it begins */
	estimate_accesses_note(estimate, slot, &op);
	estimate_accesses_note_lock(estimate, slot, &op);
	estimate->mover = slot;
}

void estimate_begin_descent(struct estimate *estimate)
{
	estimate->known = 0;
	estimate->exists = estimate->asleep = estimate->alive = 0;
	estimate->mover = 0;
	estimate->has_grown = false;
	memset(estimate->depth, 0, sizeof estimate->depth);
	for (uint32_t slot = 0; slot < estimate->slot_count; slot++) {
		estimate->ordinal[slot] = estimate->epoch[slot] = 0;
		estimate->held[slot] = 0;
		for (uint32_t object = 0; object <= estimate->object_count; object++) {
			struct estimate_access *access = &estimate->access[slot][object];

			access->run_last = access->run_last_write = 0;
			access->done[0] = access->done[1] = 0;
		}
	}
}

/* Returns whether a later op than known was the last one. */
static bool estimate_accesses_learn_last(uint32_t *last, uint32_t run_last, bool is_first)
{
	if (run_last <= *last)
		return false;
	*last = is_first ? run_last : UINT32_MAX;
	return true;
}

void estimate_end_descent(struct estimate *estimate)
{
	estimate->descents++;
	for (uint32_t slot = 0; slot < estimate->slot_count; slot++)
		for (uint32_t object = 0; object <= estimate->object_count; object++) {
			struct estimate_access *access = &estimate->access[slot][object];

			if (!access->epochs)
				continue;
			estimate->has_grown |= estimate_accesses_learn_last(
				&access->last, access->run_last, !access->runs);
			estimate->has_grown |= estimate_accesses_learn_last(
				&access->last_write, access->run_last_write, !access->runs);
			access->runs++;
			for (uint32_t i = 0; i < 2; i++)
				access->usual[i] += ((float)access->done[i] - access->usual[i]) /
						    (float)access->runs;
		}
}
