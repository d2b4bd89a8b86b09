#include "strategies/dpor/dpor_symmetry.h"

#include <stdio.h>
#include <string.h>

#include "model/feature.h"
#include "model/thread_name.h"
#include "strategies/dpor/dpor.h"
#include "strategies/strategy.h"

_Static_assert(DPOR_SYMMETRY_THREADS == DPOR_THREADS, "one entry for each slot");
_Static_assert(DPOR_SYMMETRY_PAIRS + DPOR_PAIRS_MOST <= 64, "pairs are bits of a word");

static const char *const asymmetries[DPOR_ASYMMETRY_COUNT] = {
	[DPOR_ASYMMETRY_THREADS] =
		"main does not create two threads in a row with the same start function, argument "
		"and attributes, and then join all of them in a row",
	[DPOR_ASYMMETRY_OBJECT] = "the threads change no mutex or variable that all of them know",
	[DPOR_ASYMMETRY_CREATION] = "main does not create the same threads in a row in every run",
	[DPOR_ASYMMETRY_JOINS] = "main does not join the threads in a row in every run, or another "
				 "thread joins them",
	[DPOR_ASYMMETRY_RESULT] =
		"a thread returns another value than NULL or its argument, which is read",
	[DPOR_ASYMMETRY_ID] = "a thread asks for its own id",
	[DPOR_ASYMMETRY_TIME] = "a thread waits for a time",
	[DPOR_ASYMMETRY_CALL] = "a thread is detached, cancelled or sent a signal, or waits for a "
				"signal, a child process, a futex or a descriptor",
	[DPOR_ASYMMETRY_DELAY] =
		"a thread yields, or fails to acquire a lock, and then has to wait "
		"until the others have moved",
};

static void dpor_symmetry_break(struct dpor *dpor, enum dpor_asymmetry reason)
{
	if (!dpor->symmetry.broken)
		dpor->symmetry.broken = (uint8_t)reason;
}

static uint64_t dpor_symmetry_bit(uint32_t slot)
{
	return UINT64_C(1) << slot;
}

/* Returns whether main made no step between these two of its own, except returns from creations. */
static bool dpor_symmetry_is_in_a_row(struct dpor *dpor, uint32_t first, uint32_t second)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint32_t step;

	if (first == DPOR_NONE || second == DPOR_NONE || steps[second].op.thread)
		return false;
	for (step = steps[second].previous; step != DPOR_NONE && step > first;
		step = steps[step].previous)
		if (steps[step].op.kind != OP_THREAD_CREATED)
			return false;
	return step == first;
}

/* The member of the group that precedes the slot in order of creation; DPOR_NONE: none. */
static uint32_t dpor_symmetry_member_before(const struct dpor_group *group, uint32_t slot)
{
	const uint64_t before = group->slots & (dpor_symmetry_bit(slot) - 1);

	return before ? 63 - (uint32_t)__builtin_clzll(before) : DPOR_NONE;
}

void dpor_symmetry_add_thread(struct dpor *dpor, const struct schedule_view *view, uint32_t slot)
{
	struct dpor_symmetry *symmetry = &dpor->symmetry;
	const bool is_exchangeable =
		view->equals_previous && bitset_has(view->equals_previous, dpor->index_of[slot]);

	if (is_exchangeable)
		symmetry->equals_previous |= dpor_symmetry_bit(slot);
	else
		symmetry->equals_previous &= ~dpor_symmetry_bit(slot);
	for (uint32_t i = 0; i < symmetry->group_count; i++) {
		const struct dpor_group *group = &symmetry->groups[i];
		const uint32_t before = dpor_symmetry_member_before(group, slot);

		if (!(group->slots >> slot & 1) || before == DPOR_NONE)
			continue;
		if (!is_exchangeable || dpor->index_of[before] == UINT16_MAX ||
			!dpor_symmetry_is_in_a_row(
				dpor, dpor->creation[before], dpor->creation[slot]))
			dpor_symmetry_break(dpor, DPOR_ASYMMETRY_CREATION);
	}
}

/* Slots of the threads that main joined in a row that ends with *step, a step of main. The row may be
 * empty. *step becomes main's step before the row. */
static uint64_t dpor_symmetry_joined_until(struct dpor *dpor, uint32_t *step)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint64_t joined = 0;

	for (; *step != DPOR_NONE && steps[*step].op.kind == OP_THREAD_JOIN;
		*step = steps[*step].previous)
		for (uint32_t slot = 1; slot < dpor->slot_count; slot++)
			if (dpor->symmetry.self[slot] == steps[*step].op.object)
				joined |= dpor_symmetry_bit(slot);
	return joined;
}

static uint64_t dpor_symmetry_created(const struct dpor *dpor)
{
	uint64_t created = 0;

	for (uint32_t slot = 0; slot < dpor->slot_count; slot++)
		if (dpor->index_of[slot] != UINT16_MAX)
			created |= dpor_symmetry_bit(slot);
	return created;
}

/* Main's next op ends a row of joins: the row has all created threads of a group or none. */
static void dpor_symmetry_check_joins(struct dpor *dpor)
{
	uint32_t step = dpor->last_step[0];
	const uint64_t joined = dpor_symmetry_joined_until(dpor, &step);
	const uint64_t created = joined ? dpor_symmetry_created(dpor) : 0;

	for (uint32_t i = 0; joined && i < dpor->symmetry.group_count; i++) {
		const uint64_t slots = dpor->symmetry.groups[i].slots & created;

		if (joined & slots && (joined & slots) != slots)
			dpor_symmetry_break(dpor, DPOR_ASYMMETRY_JOINS);
	}
}

static void dpor_symmetry_check_features(struct dpor *dpor, const struct schedule_view *view)
{
	const uint32_t features = view->features ? *view->features : 0;

	if (features & FEATURE_TIME)
		dpor_symmetry_break(dpor, DPOR_ASYMMETRY_TIME);
	if (features & FEATURE_THREAD_ID)
		dpor_symmetry_break(dpor, DPOR_ASYMMETRY_ID);
	if (features & FEATURE_THREAD_RESULT)
		dpor_symmetry_break(dpor, DPOR_ASYMMETRY_RESULT);
}

/* Learning runs: remembers the object if the op may become an event of a pair. */
static void dpor_symmetry_note_first(struct dpor *dpor, const struct schedule_view *view,
	uint32_t index, const struct dpor_op *op)
{
	const uint8_t class = dpor_class_of(op);

	if (dpor->symmetry.first[op->thread] || !op->object || op->flags & OP_READ ||
		(class != OBJECT_MEMORY && class != OBJECT_MUTEX) || op->kind == OP_DRAIN ||
		!view->is_common || !view->is_common(index))
		return;
	dpor->symmetry.first[op->thread] = op->object;
	dpor->symmetry.untouched[op->thread] = op->untouched;
}

static bool dpor_symmetry_is_member(const struct dpor *dpor, object_name thread)
{
	for (uint32_t i = 0; i < dpor->symmetry.group_count; i++)
		for (uint64_t left = dpor->symmetry.groups[i].slots; left; left &= left - 1)
			if (dpor->symmetry.self[__builtin_ctzll(left)] == thread)
				return true;
	return false;
}

void dpor_symmetry_note(struct dpor *dpor, const struct schedule_view *view, uint32_t index,
	const struct dpor_op *op)
{
	dpor_symmetry_check_features(dpor, view);
	if (dpor->share.held && view->is_delaying)
		dpor_symmetry_break(dpor, DPOR_ASYMMETRY_DELAY);
	switch (op->kind) {
	case OP_THREAD_BEGIN:
	case OP_THREAD_EXIT:
		if (op->object)
			dpor->symmetry.self[op->thread] = op->object;
		break;
	case OP_THREAD_JOIN:
		if (op->thread && dpor_symmetry_is_member(dpor, op->object))
			dpor_symmetry_break(dpor, DPOR_ASYMMETRY_JOINS);
		return;
	case OP_THREAD_TRYJOIN:
	case OP_THREAD_DETACH:
	case OP_THREAD_CANCEL:
	case OP_SIGNAL_SEND:
	case OP_SIGNAL_WAIT:
	case OP_CHILD_WAIT:
	case OP_PROCESS_FORK:
	case OP_FUTEX_WAIT:
	case OP_FUTEX_BLOCK:
	case OP_FUTEX_WAKE:
	case OP_FUTEX_LOCK:
		dpor_symmetry_break(dpor, DPOR_ASYMMETRY_CALL);
		break;
	default:
		break;
	}
	if (!op->thread)
		dpor_symmetry_check_joins(dpor);
	else if (dpor->lessons < DPOR_LESSONS)
		dpor_symmetry_note_first(dpor, view, index, op);
}

void dpor_symmetry_hold_up(struct dpor *dpor, const struct schedule_view *view)
{
	if (view->is_delaying)
		dpor_symmetry_break(dpor, DPOR_ASYMMETRY_DELAY);
	for (uint32_t i = 0; i < view->thread_count; i++) {
		const enum object_class class = op_descriptions[view->pending[i].kind].object;

		if (class == OBJECT_FD || class == OBJECT_CHILD || class == OBJECT_SIGNAL)
			dpor_symmetry_break(dpor, DPOR_ASYMMETRY_CALL);
	}
}

void dpor_symmetry_end(struct dpor *dpor, const struct schedule_view *view)
{
	dpor_symmetry_check_features(dpor, view);
	if (view->pending[dpor->index_of[0]].kind != OP_THREAD_JOIN)
		dpor_symmetry_check_joins(dpor);
}

static struct dpor_event dpor_symmetry_event_of(
	const struct dpor_group *group, const struct dpor_symmetry *symmetry, uint32_t slot)
{
	return (struct dpor_event){.object = symmetry->first[group->first],
		.ordinal = 1,
		.thread = (uint8_t)slot,
		.untouched = symmetry->untouched[group->first],
		.is_change = true};
}

/* Adds the pairs of the group's threads that were seen to change the first thread's object. */
static bool dpor_symmetry_add_pairs(struct dpor *dpor, struct dpor_group *group)
{
	struct dpor_symmetry *symmetry = &dpor->symmetry;
	struct dpor_share *share = &dpor->share;
	uint32_t last = group->first;

	group->ordered = 1;
	for (uint64_t left = group->slots & (group->slots - 1); left; left &= left - 1) {
		const uint32_t slot = (uint32_t)__builtin_ctzll(left);

		if (share->fixed_count == DPOR_SYMMETRY_PAIRS || !symmetry->first[group->first] ||
			symmetry->first[slot] != symmetry->first[group->first] ||
			symmetry->untouched[slot] != symmetry->untouched[group->first])
			continue;
		share->pairs[share->fixed_count++] =
			(struct dpor_pair){.events = {dpor_symmetry_event_of(group, symmetry, last),
						   dpor_symmetry_event_of(group, symmetry, slot)}};
		last = slot;
		group->ordered++;
	}
	return group->ordered > 1;
}

/* The groups of the run that ended: threads that main created equal and in a row. */
static void dpor_symmetry_find_groups(struct dpor *dpor)
{
	struct dpor_symmetry *symmetry = &dpor->symmetry;
	struct dpor_group group = {0};
	uint32_t before = DPOR_NONE;

	symmetry->group_count = 0;
	for (uint32_t slot = 1; slot <= dpor->slot_count; slot++) {
		const bool is_thread = slot < dpor->slot_count &&
				       dpor->creation[slot] != DPOR_NONE &&
				       !dpor_steps(dpor)[dpor->creation[slot]].op.thread;

		if (slot < dpor->slot_count && !is_thread)
			continue;
		if (is_thread && before != DPOR_NONE && symmetry->equals_previous >> slot & 1 &&
			dpor_symmetry_is_in_a_row(
				dpor, dpor->creation[before], dpor->creation[slot])) {
			group.slots |= dpor_symmetry_bit(slot);
		} else {
			if (group.slots & (group.slots - 1) &&
				symmetry->group_count < DPOR_SYMMETRY_GROUPS)
				symmetry->groups[symmetry->group_count++] = group;
			group = (struct dpor_group){.first = (uint8_t)slot};
			group.slots = is_thread ? dpor_symmetry_bit(slot) : 0;
		}
		before = slot;
	}
}

/* Returns whether main joined the group's threads in one row, or has neither joined one of them nor
 * waits to join a thread. */
static bool dpor_symmetry_is_joined_well(struct dpor *dpor, const struct dpor_group *group)
{
	bool is_complete = false, is_partial = false;
	uint32_t step = dpor->last_step[0];

	while (step != DPOR_NONE) {
		const uint64_t joined = dpor_symmetry_joined_until(dpor, &step) & group->slots;

		is_complete |= joined == group->slots;
		is_partial |= joined && joined != group->slots;
		if (step != DPOR_NONE)
			step = dpor_steps(dpor)[step].previous;
	}
	if (is_complete || is_partial)
		return !is_partial;
	return !(dpor->left_slots & 1) || dpor->left[0].kind != OP_THREAD_JOIN;
}

void dpor_symmetry_drop(struct dpor *dpor)
{
	dpor->symmetry.is_active = false;
	dpor->symmetry.group_count = 0;
	dpor->share.fixed_count = dpor->share.pair_count = 0;
}

void dpor_symmetry_learn(struct dpor *dpor)
{
	struct dpor_symmetry *symmetry = &dpor->symmetry;
	uint32_t kept = 0, joined = 0;

	if (dpor_symmetry_is_violated(dpor))
		dpor_symmetry_drop(dpor);
	if (!symmetry->is_wanted || symmetry->is_active || symmetry->broken)
		return;
	dpor_symmetry_find_groups(dpor);
	for (uint32_t i = 0; i < symmetry->group_count; i++) {
		struct dpor_group group = symmetry->groups[i];

		if (!dpor_symmetry_is_joined_well(dpor, &group))
			continue;
		joined++;
		if (dpor_symmetry_add_pairs(dpor, &group))
			symmetry->groups[kept++] = group;
	}
	symmetry->group_count = kept;
	symmetry->has_no_event |= joined && !kept;
	symmetry->is_active = kept;
	memset(symmetry->first, 0, sizeof symmetry->first);
}

bool dpor_symmetry_is_violated(const struct dpor *dpor)
{
	return dpor->symmetry.is_active && dpor->symmetry.broken;
}

/* Writes "main.0, main.1 and main.2; ..." for the groups. */
static void dpor_symmetry_format(const struct dpor *dpor, char *text, size_t size)
{
	size_t length = 0;

	for (uint32_t i = 0; i < dpor->symmetry.group_count; i++) {
		uint64_t left = dpor->symmetry.groups[i].slots;

		for (bool is_first = true; left && length < size; left &= left - 1) {
			const uint32_t slot = (uint32_t)__builtin_ctzll(left);
			const char *before = is_first		 ? i ? "; " : ""
					     : left & (left - 1) ? ", "
								 : " and ";
			uint32_t ordinal = 0;

			while (ordinal < THREAD_CAPACITY &&
				thread_name_child(THREAD_NAME_MAIN, ordinal) != dpor->names[slot])
				ordinal++;
			length += (size_t)snprintf(
				text + length, size - length, "%smain.%u", before, ordinal);
			is_first = false;
		}
	}
}

void dpor_symmetry_verdict(const struct dpor *dpor, struct strategy_verdict *out)
{
	const struct dpor_symmetry *symmetry = &dpor->symmetry;

	out->exchange[0] = '\0';
	out->exchanges = 1;
	out->asymmetry = NULL;
	for (uint32_t i = 0; i < symmetry->group_count; i++)
		for (uint32_t n = 2; n <= symmetry->groups[i].ordered; n++)
			out->exchanges *= n;
	if (symmetry->is_active)
		dpor_symmetry_format(dpor, out->exchange, sizeof out->exchange);
	else if (symmetry->broken)
		out->asymmetry = asymmetries[symmetry->broken];
	else if (symmetry->is_wanted && dpor->lessons == DPOR_LESSONS)
		out->asymmetry = asymmetries[symmetry->has_no_event ? DPOR_ASYMMETRY_OBJECT
								    : DPOR_ASYMMETRY_THREADS];
}
