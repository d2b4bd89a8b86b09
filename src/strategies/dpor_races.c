/*
 * Which orders of dependent ops a run has, and which other runs have them the other way round. See
 * dpor.c for the source; names of functions there: WI (weak initials), notdep, insert.
 */
#include "strategies/dpor.h"

#include <stddef.h>

/* ---- dependence ---- */

static uint8_t class_of(const struct dpor_op *op)
{
	return op_descriptions[op->kind].object;
}

/* Of these, what one op does another may feel although their objects have different names. */
static bool is_entangled(uint8_t class)
{
	return class == OBJECT_FD || class == OBJECT_CHILD || class == OBJECT_SIGNAL ||
	       class == OBJECT_FUTEX;
}

/* A wait on a condition variable gives up a mutex, and may take it again. */
static bool has_mutex(const struct dpor_op *op)
{
	return op->second && class_of(op) == OBJECT_COND;
}

static bool moves_mutex_of(const struct dpor_op *wait, const struct dpor_op *op)
{
	if (!has_mutex(wait))
		return false;
	return has_mutex(op)
		       ? wait->second == op->second
		       : class_of(op) == OBJECT_MUTEX && wait->second == op_second(op->object);
}

/* Memory of more than the eight bytes that its object names. */
static bool is_wide_access(const struct dpor_op *op)
{
	return class_of(op) == OBJECT_MEMORY && op->flags & OP_WIDE;
}

bool dpor_is_plain(const struct dpor_op *op)
{
	return !is_entangled(class_of(op)) && !has_mutex(op) && !is_wide_access(op);
}

/* Besides those about the same object. */
bool dpor_dependent_otherwise(const struct dpor_op *a, const struct dpor_op *b)
{
	const uint8_t class_a = class_of(a), class_b = class_of(b);

	if (is_entangled(class_a) && class_a == class_b)
		return true;
	if (moves_mutex_of(a, b) || moves_mutex_of(b, a))
		return true;
	return class_a == OBJECT_MEMORY && class_b == OBJECT_MEMORY &&
	       (is_wide_access(a) || is_wide_access(b));
}

/* ---- happens-before ---- */

/* Of lanes: a loop of known length is a few vector instructions. Numbers of steps are below 2^31. */
static void join_lanes(uint32_t *restrict to, const uint32_t *restrict from)
{
	for (uint32_t i = 0; i < DPOR_LANES; i++)
		to[i] = (int32_t)from[i] > (int32_t)to[i] ? from[i] : to[i];
}

static void copy_lanes(uint32_t *restrict to, const uint32_t *restrict from)
{
	for (uint32_t i = 0; i < DPOR_LANES; i++)
		to[i] = from[i];
}

static void clear_lanes(uint32_t *to)
{
	for (uint32_t i = 0; i < DPOR_LANES; i++)
		to[i] = 0;
}

static void join(const struct dpor *dpor, uint32_t *to, const uint32_t *from)
{
	for (uint32_t at = 0; at < dpor->width; at += DPOR_LANES)
		join_lanes(to + at, from + at);
}

static void copy(const struct dpor *dpor, uint32_t *to, const uint32_t *from)
{
	for (uint32_t at = 0; at < dpor->width; at += DPOR_LANES)
		copy_lanes(to + at, from + at);
}

void dpor_widen(struct dpor *dpor)
{
	const uint32_t from = dpor->width;

	dpor->width += DPOR_LANES;
	for (uint32_t step = 0; step < dpor->step_count; step++)
		clear_lanes(dpor_clock(dpor, step) + from);
}

/* What happens before a step whatever the other threads do: its own thread, and who made that. */
static void own_past(struct dpor *dpor, uint32_t step, uint32_t *clock)
{
	const struct dpor_step *self = &dpor_steps(dpor)[step];
	const uint32_t creation = dpor->creation[self->op.thread];
	const uint32_t from = self->previous != DPOR_NONE ? self->previous : creation;

	if (from != DPOR_NONE) {
		copy(dpor, clock, dpor_clock(dpor, from));
		return;
	}
	for (uint32_t at = 0; at < dpor->width; at += DPOR_LANES)
		clear_lanes(clock + at);
}

/* ---- steps that an op may depend on ---- */

/* Wide: it has to do with more than its object. */
static bool is_wide(const struct dpor_op *op)
{
	return has_mutex(op) || is_wide_access(op);
}

/* What it is about, as a number; 0: nothing, and it depends on nothing. */
static uint64_t key_of(const struct dpor_op *op)
{
	const uint8_t class = class_of(op);

	return is_entangled(class) ? class : op->object;
}

/* NULL: an op about nothing. */
static uint32_t *bucket_of(struct dpor *dpor, const struct dpor_op *op)
{
	const uint64_t key = key_of(op);

	return key ? &dpor->last_alike[(key ^ key >> 16) % DPOR_BUCKETS] : NULL;
}

bool dpor_is_racy(const struct dpor *dpor, const struct dpor_op *op)
{
	const uint64_t key = key_of(op);
	const uint64_t bit = (key ^ key >> 16) % DPOR_RACY;

	return key && dpor->racy[bit / 64] >> bit % 64 & 1;
}

static void note_racy(struct dpor *dpor, const struct dpor_op *op)
{
	const uint64_t key = key_of(op);
	const uint64_t bit = (key ^ key >> 16) % DPOR_RACY;

	dpor->racy[bit / 64] |= UINT64_C(1) << bit % 64;
}

void dpor_enlist(struct dpor *dpor, uint32_t step)
{
	struct dpor_step *self = &dpor_steps(dpor)[step];
	uint32_t *bucket = bucket_of(dpor, &self->op);

	self->alike = self->wide = DPOR_NONE;
	if (!bucket)
		return;
	self->alike = *bucket;
	self->wide = dpor->last_wide;
	*bucket = step;
	if (is_wide(&self->op))
		dpor->last_wide = step;
}

void dpor_strike(struct dpor *dpor, uint32_t step)
{
	const struct dpor_step *self = &dpor_steps(dpor)[step];
	uint32_t *bucket = bucket_of(dpor, &self->op);

	if (!bucket)
		return;
	*bucket = self->alike;
	if (is_wide(&self->op))
		dpor->last_wide = self->wide;
}

/* Those before `step`, newest first, that are of other threads and not in `past`. */
struct look_back {
	uint32_t alike, wide; /* the next of each */
	uint32_t all_below;   /* for a wide op; else DPOR_NONE */
};

static void look_back_begin(struct dpor *dpor, struct look_back *look, uint32_t step)
{
	const struct dpor_step *self = &dpor_steps(dpor)[step];

	*look = (struct look_back){.alike = self->alike,
		.wide = self->wide,
		.all_below = is_wide(&self->op) ? step : DPOR_NONE};
}

static uint32_t look_back_pass(struct dpor *dpor, struct look_back *look)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint32_t at;

	if (look->all_below != DPOR_NONE)
		return look->all_below ? --look->all_below : DPOR_NONE;
	if (look->alike == DPOR_NONE && look->wide == DPOR_NONE)
		return DPOR_NONE;
	at = look->wide == DPOR_NONE || (look->alike != DPOR_NONE && look->alike > look->wide)
		     ? look->alike
		     : look->wide;
	if (look->alike == at)
		look->alike = steps[at].alike;
	if (look->wide == at)
		look->wide = steps[at].wide;
	return at;
}

/* DPOR_NONE: that was all. */
static uint32_t look_back_next(
	struct dpor *dpor, struct look_back *look, const uint32_t *past, uint8_t self)
{
	uint32_t at;

	while ((at = look_back_pass(dpor, look)) != DPOR_NONE) {
		const struct dpor_step *step = &dpor_steps(dpor)[at];

		if (!step->is_value && step->op.thread != self &&
			step->ordinal > past[step->op.thread])
			return at;
	}
	return DPOR_NONE;
}

void dpor_note_step(struct dpor *dpor, uint32_t step)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	const struct dpor_step *self = &steps[step];
	uint32_t past[DPOR_THREADS];
	uint32_t *clock = dpor_clock(dpor, step);
	struct look_back look;
	uint32_t other;

	own_past(dpor, step, past);
	copy(dpor, clock, past);
	clock[self->op.thread] = self->ordinal;
	look_back_begin(dpor, &look, step);
	while ((other = look_back_next(dpor, &look, past, self->op.thread)) != DPOR_NONE) {
		if (steps[other].ordinal > clock[steps[other].op.thread] &&
			dpor_dependent(&steps[other].op, &self->op))
			join(dpor, clock, dpor_clock(dpor, other));
	}
}

static bool happens_before(struct dpor *dpor, uint32_t first, uint32_t second)
{
	const struct dpor_step *step = &dpor_steps(dpor)[first];

	return dpor_clock(dpor, second)[step->op.thread] >= step->ordinal;
}

/* ---- sequences: numbers of steps, whose order is kept ---- */

struct sequence {
	uint32_t *steps;
	uint32_t count;
	uint32_t core; /* of those: up to the op that is to come before another one */
};

static bool makes_thread(const struct dpor *dpor, uint32_t step, uint8_t thread)
{
	return dpor->creation[thread] == step;
}

/* Where the thread has its first op in it; count: nowhere. */
static uint32_t first_of(struct dpor *dpor, const struct sequence *sequence, uint8_t thread)
{
	uint32_t i = 0;

	while (i < sequence->count && dpor_steps(dpor)[sequence->steps[i]].op.thread != thread)
		i++;
	return i;
}

/*
 * Weak initial: could `op` be the first of the sequence, or stand before all of it? Returns where its thread
 * has its first op there; sequence->count: nowhere; DPOR_NONE: it could not.
 */
static uint32_t place_of_first(
	struct dpor *dpor, const struct sequence *sequence, const struct dpor_op *op)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint32_t i;

	for (i = 0; i < sequence->count; i++) {
		const uint32_t step = sequence->steps[i];

		if (steps[step].op.thread == op->thread)
			break;
		if (dpor_dependent(&steps[step].op, op) || makes_thread(dpor, step, op->thread))
			return DPOR_NONE;
	}
	return i;
}

static bool may_come_first(
	struct dpor *dpor, const struct sequence *sequence, const struct dpor_op *op)
{
	return place_of_first(dpor, sequence, op) != DPOR_NONE;
}

static void remove_first_of(struct dpor *dpor, struct sequence *sequence, uint8_t thread)
{
	const uint32_t at = first_of(dpor, sequence, thread);

	if (at == sequence->count)
		return;
	sequence->count--;
	for (uint32_t i = at; i < sequence->count; i++)
		sequence->steps[i] = sequence->steps[i + 1];
}

/* The sequence as a branch of its own; DPOR_NONE: no room. */
static uint32_t branch_of(struct dpor *dpor, const struct sequence *sequence)
{
	uint32_t first = DPOR_NONE;

	for (uint32_t i = sequence->count; i-- > 0;) {
		const uint32_t branch =
			dpor_branch_new(dpor, &dpor_steps(dpor)[sequence->steps[i]].op);

		if (branch == DPOR_NONE) {
			if (first != DPOR_NONE)
				dpor_branch_free(dpor, first);
			return DPOR_NONE;
		}
		dpor_branches(dpor)[branch].child = first;
		first = branch;
	}
	return first;
}

/* Puts the sequence into the tree below *place, unless what is there covers it. */
static void insert(struct dpor *dpor, uint32_t *place, struct sequence *sequence)
{
	while (sequence->count) {
		uint32_t branch = *place;

		while (branch != DPOR_NONE &&
			!may_come_first(dpor, sequence, &dpor_branches(dpor)[branch].op)) {
			place = &dpor_branches(dpor)[branch].sibling;
			branch = *place;
		}
		if (branch == DPOR_NONE) {
			*place = branch_of(dpor, sequence);
			return;
		}
		remove_first_of(dpor, sequence, dpor_branches(dpor)[branch].op.thread);
		place = &dpor_branches(dpor)[branch].child;
		if (*place == DPOR_NONE)
			return; /* a leaf: whatever comes behind it is looked at there */
	}
}

/* ---- races ---- */

/*
 * May `second` happen before `first`? A lock that is taken was given up before: those two have no
 * other order, the race is with who took it. Nor has the end of a thread and who joins it.
 */
static bool has_other_order(const struct dpor_step *first, const struct dpor_step *second)
{
	const bool waits = second->op.flags & OP_MAYBLOCK;

	if (second->op.kind == OP_THREAD_JOIN || first->op.kind == OP_THREAD_CREATE)
		return false;
	if ((first->op.flags & OP_RELEASE || first->op.kind == OP_COND_WAIT) && waits &&
		second->op.flags & OP_ACQUIRE)
		return false;
	if (first->op.kind == OP_ONCE_DONE || first->op.kind == OP_BARRIER_ARRIVE)
		return !waits;
	return true;
}

/*
 * Where `second` waited already before `first`, could not move, and nothing of what is to come before
 * it has to do with what it waits for, it cannot move then either.
 */
static bool is_stuck(
	struct dpor *dpor, uint32_t first, uint32_t second, const struct sequence *sequence)
{
	const struct dpor_step *self = &dpor_steps(dpor)[second];

	if (!(self->op.flags & OP_MAYBLOCK) || self->previous == DPOR_NONE ||
		self->previous > first || dpor_steps(dpor)[first].enabled >> self->op.thread & 1)
		return false;
	for (uint32_t i = 0; i + 1 < sequence->core; i++)
		if (dpor_dependent(&dpor_steps(dpor)[sequence->steps[i]].op, &self->op))
			return false;
	return true;
}

/*
 * notdep(first) . second: what follows `first` and does not depend on it, with the other one in its place
 * among these. What comes behind that does not depend on it, or it would depend on `first`.
 */
static void other_order(
	struct dpor *dpor, uint32_t first, uint32_t second, struct sequence *sequence)
{
	*sequence = (struct sequence){.steps = dpor_scratch(dpor)};
	for (uint32_t i = first + 1; i < dpor->depth; i++) {
		if (i == second)
			sequence->steps[sequence->count++] = second;
		else if (!dpor_steps(dpor)[i].is_value && !happens_before(dpor, first, i))
			sequence->steps[sequence->count++] = i;
		if (i == second)
			sequence->core = sequence->count;
	}
	if (second < dpor->depth)
		return;
	sequence->steps[sequence->count++] = second; /* one that was left */
	sequence->core = sequence->count;
}

/*
 * Will one of the branches there begin the core of the sequence, or one that is yet to be made of the
 * sequence?
 */
static bool is_begun_there(struct dpor *dpor, uint32_t branch, const struct sequence *sequence)
{
	bool is_covered = false;

	for (; branch != DPOR_NONE; branch = dpor_branches(dpor)[branch].sibling) {
		const uint32_t place =
			place_of_first(dpor, sequence, &dpor_branches(dpor)[branch].op);

		if (place < sequence->core)
			return true;
		is_covered |= place != DPOR_NONE;
	}
	return !is_covered;
}

/*
 * The sequence from that step on, unless a sleeper there shows that it has been had. True: this is settled
 * for all runs that have the race; see dpor_reverse_races().
 */
static bool add_order(struct dpor *dpor, uint32_t step, struct sequence *sequence)
{
	struct dpor_step *at = &dpor_steps(dpor)[step];
	const struct dpor_sleeper *sleepers = dpor_sleepers(dpor) + at->sleeper;
	bool is_had = false;
	bool is_settled;

	for (uint32_t i = 0; i < at->sleeper_count; i++) {
		const uint32_t place = place_of_first(dpor, sequence, &sleepers[i].op);

		if (place < sequence->core)
			return true;
		is_had |= place != DPOR_NONE;
	}
	if (is_had)
		return false;
	is_settled = is_begun_there(dpor, at->wakeup, sequence);
	insert(dpor, &at->wakeup, sequence);
	return is_settled;
}

static bool reverse(struct dpor *dpor, uint32_t first, uint32_t second)
{
	struct sequence sequence;

	note_racy(dpor, &dpor_steps(dpor)[first].op);
	note_racy(dpor, &dpor_steps(dpor)[second].op);
	other_order(dpor, first, second, &sequence);
	return is_stuck(dpor, first, second, &sequence) || add_order(dpor, first, &sequence);
}

/* The steps that race with this one: dependent, and nothing between them orders them. True: all settled. */
static bool reverse_races_of(struct dpor *dpor, uint32_t second)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint32_t past[DPOR_THREADS], ordered[DPOR_THREADS];
	struct look_back look;
	bool is_settled = true;
	uint32_t first;

	own_past(dpor, second, past);
	copy(dpor, ordered, past);
	look_back_begin(dpor, &look, second);
	while ((first = look_back_next(dpor, &look, past, steps[second].op.thread)) != DPOR_NONE) {
		if (steps[first].ordinal <= ordered[steps[first].op.thread] ||
			!dpor_dependent(&steps[first].op, &steps[second].op) ||
			!has_other_order(&steps[first], &steps[second]))
			continue;
		is_settled &= reverse(dpor, first, second);
		join(dpor, ordered, dpor_clock(dpor, first));
	}
	return is_settled;
}

/* ---- ops that were still to come ---- */

/* The pending op of a thread as if it were the last step of the run; behind all real ones. */
static uint32_t step_left(struct dpor *dpor, uint8_t slot)
{
	const uint32_t number = dpor->depth, last = dpor->last_step[slot];
	const uint32_t *bucket = bucket_of(dpor, &dpor->left[slot]);

	dpor_steps(dpor)[number] = (struct dpor_step){
		.op = dpor->left[slot],
		.previous = last,
		.ordinal = last == DPOR_NONE ? 1 : dpor_steps(dpor)[last].ordinal + 1,
		.alike = bucket ? *bucket : DPOR_NONE,
		.wide = bucket ? dpor->last_wide : DPOR_NONE,
	};
	return number;
}

static uint32_t last_real_step(struct dpor *dpor)
{
	uint32_t step = dpor->depth;

	while (step && dpor_steps(dpor)[step - 1].is_value)
		step--;
	return step ? step - 1 : DPOR_NONE;
}

/*
 * Whoever waits for ever has lost a race, too. And whoever could still have moved lost it to the step
 * after which the process ended.
 */
static void reverse_races_of_left(struct dpor *dpor, uint8_t slot)
{
	const uint32_t step = step_left(dpor, slot);
	const uint32_t end = last_real_step(dpor);

	(void)reverse_races_of(dpor, step); /* likewise */
	if (dpor->left_enabled >> slot & 1 && end != DPOR_NONE &&
		dpor_steps(dpor)[end].op.thread != slot) {
		struct sequence sequence = {.steps = dpor_scratch(dpor), .count = 1, .core = 1};

		sequence.steps[0] = step;
		if (dpor_steps(dpor)[end].enabled >> slot & 1)
			(void)add_order(dpor, end, &sequence); /* asked again in every run */
	}
}

/*
 * Each run has to be asked for all of its races, not only for those that are new in it: whether a sleeper
 * or a branch covers the other order may depend on what happened behind the race. It does not where a
 * thread that is tried at `first` in any case could begin the core of the sequence, which is the same in all runs
 * that share the race: then one op of every run with the other order is tried there (a source set), and
 * the race is *settled*.
 */
void dpor_reverse_races(struct dpor *dpor)
{
	struct dpor_step *steps = dpor_steps(dpor);
	uint32_t *open = &dpor->open;

	while (*open != DPOR_NONE && !dpor->is_lost) {
		struct dpor_step *step = &steps[*open];

		if (reverse_races_of(dpor, *open))
			*open = step->open_before;
		else
			open = &step->open_before;
	}
	for (uint32_t i = dpor->first_new; i < dpor->depth && !dpor->is_lost; i++) {
		if (steps[i].is_value || reverse_races_of(dpor, i))
			continue;
		steps[i].open_before = dpor->open;
		dpor->open = i;
	}
	for (uint8_t slot = 0; slot < dpor->slot_count && !dpor->is_lost; slot++)
		if (dpor->left_slots >> slot & 1)
			reverse_races_of_left(dpor, slot);
}
