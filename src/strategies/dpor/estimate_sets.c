/*
 * Persistent sets of the descents, and the probabilities of their threads.
 *
 * The closure of an enabled thread contains, for each enabled member, all threads that may later
 * perform an op dependent on the member's pending op. For each disabled member it contains all
 * threads that may enable the member. Other threads therefore cannot influence the enabled members
 * before one of these moves (Valmari's stubborn sets; Godefroid 1996, chapter 4). The enabled
 * members are a persistent set. The smallest set of all enabled threads makes the fewest redundant
 * paths.
 */
#include "strategies/dpor/estimate.h"

/* Later epochs of the thread that it may reach before a member of `slots` moves. */
static uint64_t estimate_sets_epochs(const struct estimate *estimate, uint32_t slot, uint64_t slots)
{
	const uint32_t now = estimate->exists >> slot & 1 ? estimate->epoch[slot] : 0;
	uint64_t epochs = UINT64_MAX << now;

	for (slots &= estimate->joins[slot]; slots; slots &= slots - 1) {
		const uint8_t joined = estimate->joined[slot][__builtin_ctzll(slots)];

		if (joined > now && joined < 63)
			epochs &= estimate_bit(joined) - 1;
	}
	return epochs;
}

/* Whether the thread may access the object later. */
static bool estimate_sets_may_access(const struct estimate *estimate, uint32_t slot,
	uint32_t object, bool is_write, uint64_t members)
{
	const struct estimate_access *access = &estimate->access[slot][object];
	const uint64_t epochs = is_write ? access->write_epochs : access->epochs;
	const uint64_t locks = is_write ? access->write_locks : access->locks;
	const uint32_t done = estimate->exists >> slot & 1 ? estimate->ordinal[slot] : 0;

	if (!epochs || (is_write ? access->last_write : access->last) <= done)
		return false;
	if (!(epochs & estimate_sets_epochs(estimate, slot, members)))
		return false;
	return !locks || !(locks & estimate_held(estimate, members));
}

/* Whether `other` may perform an op dependent on the member's pending op before a member moves. */
static bool estimate_sets_conflict(
	const struct estimate *estimate, uint32_t member, uint32_t other, uint64_t members)
{
	const struct dpor_op *op = &estimate->op[member];
	const bool needs_write = op->flags & OP_READ;
	const uint16_t object = estimate->object[member];

	if (estimate->enabled >> other & 1 && dpor_dependent(op, &estimate->op[other]))
		return true;
	if (object == ESTIMATE_WIDE || estimate->mutex[member] == ESTIMATE_WIDE)
		return true;
	if (estimate->mutex[member] != ESTIMATE_PRIVATE &&
		estimate_sets_may_access(estimate, other, estimate->mutex[member], true, members))
		return true;
	if (object == ESTIMATE_PRIVATE)
		return false;
	return estimate_sets_may_access(estimate, other, object, needs_write, members) ||
	       (dpor_class_of(op) == OBJECT_MEMORY && estimate_sets_may_access(estimate, other,
							      ESTIMATE_WIDE, needs_write, members));
}

/* Threads that have ever performed an op dependent on the member's pending op, or are at one. */
static uint64_t estimate_sets_rivals(const struct estimate *estimate, uint32_t member)
{
	const struct dpor_op *op = &estimate->op[member];
	const uint64_t *accessors = op->flags & OP_READ ? estimate->writers : estimate->accessors;
	const uint16_t object = estimate->object[member], mutex = estimate->mutex[member];
	uint64_t rivals = 0;

	if (object == ESTIMATE_WIDE || mutex == ESTIMATE_WIDE)
		return UINT64_MAX;
	if (object != ESTIMATE_PRIVATE)
		rivals |= accessors[object] | accessors[ESTIMATE_WIDE];
	if (mutex != ESTIMATE_PRIVATE)
		rivals |= estimate->writers[mutex];
	for (uint64_t left = estimate->enabled & ~rivals; left; left &= left - 1)
		if (dpor_dependent(op, &estimate->op[__builtin_ctzll(left)]))
			rivals |= left & -left;
	return rivals;
}

static uint64_t estimate_sets_conflicting(
	const struct estimate *estimate, uint32_t member, uint64_t members)
{
	uint64_t left =
		estimate_sets_rivals(estimate, member) & estimate_with_future(estimate) & ~members;
	uint64_t found = 0;

	for (; left; left &= left - 1)
		if (estimate_sets_conflict(
			    estimate, member, (uint32_t)__builtin_ctzll(left), members))
			found |= left & -left;
	return found;
}

static uint64_t estimate_sets_holder(const struct estimate *estimate, uint32_t lock)
{
	if (lock == DPOR_NONE)
		return 0;
	for (uint32_t slot = 0; slot < estimate->slot_count; slot++)
		if (estimate->held[slot] >> lock & 1)
			return estimate_bit(slot);
	return 0;
}

static uint64_t estimate_sets_joined(const struct estimate *estimate, object_name thread)
{
	for (uint32_t slot = 0; slot < estimate->slot_count; slot++)
		if (estimate->thread_object[slot] == thread)
			return estimate_bit(slot);
	return UINT64_MAX;
}

/* Threads without which the disabled thread stays disabled; UINT64_MAX: not known. */
static uint64_t estimate_sets_enabling(const struct estimate *estimate, uint32_t slot)
{
	const struct dpor_op *op = &estimate->op[slot];
	uint64_t found;

	if (!(estimate->exists >> slot & 1))
		return estimate_bit(estimate->creator[slot]);
	if (!(op->flags & OP_MAYBLOCK) || estimate->object[slot] == ESTIMATE_WIDE)
		return UINT64_MAX;
	if (op->kind == OP_THREAD_JOIN)
		return estimate_sets_joined(estimate, op->object);
	if (op->kind == OP_MUTEX_LOCK || op->kind == OP_SPIN_LOCK) {
		found = estimate_sets_holder(estimate, estimate_lock_of(estimate, op->object));
		return found ? found : UINT64_MAX;
	}
	if (estimate->object[slot] == ESTIMATE_PRIVATE)
		return UINT64_MAX;
	found = estimate_sets_holder(estimate, estimate_lock_of_second(estimate, op->second));
	for (uint64_t left = estimate->writers[estimate->object[slot]] &
			     estimate_with_future(estimate) & ~estimate_bit(slot);
		left; left &= left - 1)
		if (estimate_sets_may_access(estimate, (uint32_t)__builtin_ctzll(left),
			    estimate->object[slot], true, 0))
			found |= left & -left;
	return found;
}

/* Stops when the closure has `most` of the branches. */
static uint64_t estimate_sets_closure(
	const struct estimate *estimate, uint32_t slot, uint64_t branches, int most)
{
	const uint64_t all =
		estimate->slot_count == 64 ? UINT64_MAX : estimate_bit(estimate->slot_count) - 1;
	uint64_t members = estimate_bit(slot), done = 0;

	while (members & ~done && __builtin_popcountll(members & branches) < most) {
		const uint32_t member = (uint32_t)__builtin_ctzll(members & ~done);

		done |= estimate_bit(member);
		if (!estimate_has_future(estimate, member))
			continue;
		members |=
			all & (estimate->enabled >> member & 1
					      ? estimate_sets_conflicting(estimate, member, members)
					      : estimate_sets_enabling(estimate, member));
	}
	return members;
}

uint64_t estimate_branches(const struct estimate *estimate)
{
	const uint64_t all = estimate->enabled & ~estimate->asleep;
	uint64_t best = all;

	for (uint64_t left = estimate->enabled; left; left &= left - 1) {
		const int most = __builtin_popcountll(best);
		const uint64_t branches = all & estimate_sets_closure(estimate,
							(uint32_t)__builtin_ctzll(left), all, most);

		if (__builtin_popcountll(branches) < most)
			best = branches;
		if (!(best & (best - 1)))
			break;
	}
	return best;
}

/* Expected number of accesses that the thread has still to perform, the pending one included. */
static double estimate_sets_left(const struct estimate *estimate, uint32_t slot, uint32_t object,
	enum estimate_direction direction)
{
	const struct estimate_access *access = &estimate->access[slot][object];
	const bool is_pending = estimate->alive >> slot & 1 && estimate->object[slot] == object &&
				!(estimate->op[slot].flags & OP_RELEASE) &&
				estimate_direction(&estimate->op[slot]) == direction;
	const double left = (double)access->usual[direction] - access->done[direction];

	if (!estimate_has_future(estimate, slot))
		return 0;
	return left < is_pending ? is_pending : left;
}

static double estimate_sets_all_writes(const struct estimate *estimate, uint32_t object)
{
	double writes = 0;

	for (uint64_t left = estimate->writers[object]; left; left &= left - 1)
		writes += estimate_sets_left(
			estimate, (uint32_t)__builtin_ctzll(left), object, ESTIMATE_WRITE);
	return writes;
}

/*
 * The number of orders of the accesses to one object, with w writes and r reads per thread, is about
 * a multinomial coefficient of the writes. Each thread's reads multiply this number by a binomial
 * coefficient. Both shares are exact if no thread both reads and writes, and objects are
 * independent.
 */
static double estimate_sets_share_of_write(
	const struct estimate *estimate, uint32_t slot, uint32_t object)
{
	const double writes = estimate_sets_all_writes(estimate, object);
	const double own = estimate_sets_left(estimate, slot, object, ESTIMATE_WRITE);
	double rivals = own, share;

	for (uint64_t left = estimate->writers[object] & ~estimate_bit(slot); left;
		left &= left - 1) {
		const uint32_t other = (uint32_t)__builtin_ctzll(left);

		if (!(estimate->access[other][object].write_locks &
			    estimate_held(estimate, ~estimate_bit(other))))
			rivals += estimate_sets_left(estimate, other, object, ESTIMATE_WRITE);
	}
	share = own > 0 ? own / rivals : 1;
	for (uint64_t left = estimate->accessors[object] & ~estimate_bit(slot); left;
		left &= left - 1) {
		const uint32_t other = (uint32_t)__builtin_ctzll(left);
		const double reads = estimate_sets_left(estimate, other, object, ESTIMATE_READ);
		const double foreign = reads > 0 ? writes - estimate_sets_left(estimate, other,
								    object, ESTIMATE_WRITE)
						 : 0;

		if (foreign > 0)
			share *= foreign / (foreign + reads);
	}
	return share;
}

static double estimate_sets_share_of_read(
	const struct estimate *estimate, uint32_t slot, uint32_t object, bool is_delayed)
{
	const double foreign = estimate_sets_all_writes(estimate, object) -
			       estimate_sets_left(estimate, slot, object, ESTIMATE_WRITE);
	const double reads = estimate_sets_left(estimate, slot, object, ESTIMATE_READ);

	return (is_delayed ? foreign : reads) / (foreign + reads);
}

/* Share of the traces in which the sleeping thread is not the next one at its object. */
static double estimate_sets_share_of_sleeper(
	const struct estimate *estimate, uint32_t sleeper, uint64_t asleep)
{
	const uint16_t object = estimate->object[sleeper];
	double before = 1, after;

	if (object == ESTIMATE_PRIVATE)
		return 0;
	if (estimate_direction(&estimate->op[sleeper]) == ESTIMATE_READ)
		return estimate_sets_share_of_read(estimate, sleeper, object, true);
	for (uint32_t other = 0; other < sleeper; other++)
		if (asleep >> other & 1 && estimate->object[other] == object)
			before -= estimate_sets_share_of_write(estimate, other, object);
	after = before - estimate_sets_share_of_write(estimate, sleeper, object);
	return after > 0 ? after / before : 0;
}

double estimate_share(const struct estimate *estimate, uint32_t slot, uint64_t asleep)
{
	const struct dpor_op *op = &estimate->op[slot];
	const uint16_t object = estimate->object[slot];
	double share = 1;

	if (object != ESTIMATE_PRIVATE && !(op->flags & OP_RELEASE))
		share = estimate_direction(op) == ESTIMATE_READ
				? estimate_sets_share_of_read(estimate, slot, object, false)
				: estimate_sets_share_of_write(estimate, slot, object);
	for (uint64_t left = asleep; left; left &= left - 1)
		share *= estimate_sets_share_of_sleeper(
			estimate, (uint32_t)__builtin_ctzll(left), asleep);
	return share;
}
