/*
 * Interchangeable threads of dpor: one order of them stands for all.
 *
 * Threads are *twins* if one thread created them directly one after the other, with the same start
 * routine, the same argument and default attributes. Exchanging twins in a run gives another run,
 * with the same result, if the program distinguishes them nowhere. Two ops of twins on one object
 * are ordered in each run in which both happen. dpor executes only runs in which the first write of
 * each twin to a chosen object follows that of the twin created before. Of the n! runs that differ
 * in the names of n twins exactly one is like that. If only some twins write, these are the first
 * ones in one of the runs. Pairs of events restrict the runs, as in shards (dpor_shards.h).
 *
 * The program distinguishes twins if their creator acts after it has joined some of its children and
 * before it has joined all, or reads a result, or if another call names a thread. Every run is
 * checked for that. Not checked: handles, thread ids, and addresses of stacks and thread-local
 * variables may only be compared for equality.
 */
#include "strategies/dpor/dpor.h"

/* The twin created directly before; DPOR_NONE: none. */
static uint32_t dpor_twins_before(struct dpor *dpor, uint32_t slot)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint32_t at = dpor->creation[slot];

	if (at == DPOR_NONE || steps[at].op.kind != OP_THREAD_CREATE ||
		steps[at].op.second != OP_CREATES_TWIN)
		return DPOR_NONE;
	do
		at = steps[at].previous;
	while (at != DPOR_NONE && steps[at].op.kind == OP_THREAD_CREATED);
	for (uint32_t other = 0; at != DPOR_NONE && other < dpor->slot_count; other++)
		if (dpor->creation[other] == at)
			return other;
	return DPOR_NONE;
}

static bool dpor_twins_is_write(const struct dpor_op *op)
{
	const uint8_t class = dpor_class_of(op);

	return (class == OBJECT_MEMORY || class == OBJECT_MUTEX) && op->is_plain && op->object &&
	       !(op->flags & OP_READ);
}

static bool dpor_twins_writes(struct dpor *dpor, uint32_t slot, object_name object)
{
	const struct dpor_step *steps = dpor_steps(dpor);

	for (uint32_t at = dpor->last_step[slot]; at != DPOR_NONE; at = steps[at].previous)
		if (steps[at].op.object == object && dpor_twins_is_write(&steps[at].op))
			return true;
	return false;
}

/* The first object to which all twins write; 0: none. `twins` has their slots. */
static object_name dpor_twins_object(struct dpor *dpor, const uint32_t *twins, uint32_t count)
{
	const struct dpor_step *steps = dpor_steps(dpor);

	for (uint32_t i = 0; i < dpor->depth; i++) {
		uint32_t twin = 1;

		if (steps[i].is_value || steps[i].op.thread != twins[0] ||
			!dpor_twins_is_write(&steps[i].op))
			continue;
		while (twin < count && dpor_twins_writes(dpor, twins[twin], steps[i].op.object))
			twin++;
		if (twin == count)
			return steps[i].op.object;
	}
	return 0;
}

static void dpor_twins_order(struct dpor *dpor, const uint32_t *twins, uint32_t count)
{
	const object_name object = dpor_twins_object(dpor, twins, count);
	struct dpor_share *share = &dpor->share;

	for (uint32_t i = 1; object && i < count && share->pair_count < DPOR_PAIRS_MOST; i++) {
		struct dpor_pair *pair = &share->pairs[share->pair_count++];

		*pair = (struct dpor_pair){0};
		for (uint32_t event = 0; event < 2; event++)
			pair->events[event] = (struct dpor_event){.object = object,
				.ordinal = 1,
				.thread = (uint8_t)twins[i - 1 + event],
				.is_change = true};
	}
}

/* Another call than those that create and join names a thread, or a join reads a result. */
static bool dpor_twins_is_naming(const struct dpor_op *op)
{
	return op->kind == OP_THREAD_TRYJOIN || op->kind == OP_THREAD_DETACH ||
	       op->kind == OP_THREAD_CANCEL || op->kind == OP_SIGNAL_SEND ||
	       (op->kind == OP_THREAD_JOIN && op->second == OP_READS_RESULT);
}

/* Some thread has joined a part of its children and acts, or a call names a thread. */
static bool dpor_twins_are_distinguished(struct dpor *dpor)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint32_t children[DPOR_THREADS] = {0};
	uint64_t joining = 0;

	for (uint32_t i = 0; i < dpor->depth; i++) {
		const struct dpor_op *op = &steps[i].op;
		const uint64_t self = UINT64_C(1) << op->thread;

		if (steps[i].is_value)
			continue;
		if (dpor_twins_is_naming(op) || (op->kind != OP_THREAD_JOIN && joining & self))
			return true;
		if (op->kind == OP_THREAD_CREATE) {
			children[op->thread]++;
		} else if (op->kind == OP_THREAD_JOIN && children[op->thread]) {
			joining |= self;
			if (!--children[op->thread])
				joining &= ~self;
		}
	}
	return false;
}

void dpor_twins_find(struct dpor *dpor)
{
	uint32_t twins[DPOR_THREADS];
	uint64_t followed = 0;

	if (dpor_twins_are_distinguished(dpor))
		return;
	for (uint32_t slot = 0; slot < dpor->slot_count; slot++) {
		const uint32_t before = dpor_twins_before(dpor, slot);

		if (before != DPOR_NONE)
			followed |= UINT64_C(1) << before;
	}
	for (uint32_t last = 0; last < dpor->slot_count; last++) {
		uint32_t count = 0;

		if (followed >> last & 1)
			continue;
		for (uint32_t at = last; at != DPOR_NONE; at = dpor_twins_before(dpor, at))
			twins[count++] = at;
		for (uint32_t i = 0; i < count / 2; i++) {
			const uint32_t kept = twins[i];

			twins[i] = twins[count - 1 - i];
			twins[count - 1 - i] = kept;
		}
		if (count > 1)
			dpor_twins_order(dpor, twins, count);
	}
}

bool dpor_twins_differ(struct dpor *dpor)
{
	const struct dpor_share *share = &dpor->share;

	for (uint32_t i = 0; i < share->pair_count; i++) {
		const uint32_t twin = share->pairs[i].events[1].thread;

		if (dpor->creation[twin] != DPOR_NONE &&
			dpor_twins_before(dpor, twin) != share->pairs[i].events[0].thread)
			return true;
	}
	return dpor_twins_are_distinguished(dpor);
}
