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
#include "strategies/descent/descent.h"

/* What descent_sets_rivals() returned at this point; the closures ask for the same threads again. */
struct descent_rivals {
	uint64_t known; /* slots */
	uint64_t of[DESCENT_SLOTS];
};

/* Later epochs of the thread that it may reach before a member of `slots` moves. */
static uint64_t descent_sets_epochs(const struct descent *descent, uint32_t slot, uint64_t slots)
{
	const uint32_t now = descent->exists >> slot & 1 ? descent->epoch[slot] : 0;
	uint64_t epochs = UINT64_MAX << now;

	for (slots &= descent->joins[slot]; slots; slots &= slots - 1) {
		const uint8_t joined = descent->joined[slot][__builtin_ctzll(slots)];

		if (joined > now && joined < 63)
			epochs &= descent_bit(joined) - 1;
	}
	return epochs;
}

/* Whether the thread may access the object later. */
static bool descent_sets_may_access(const struct descent *descent, uint32_t slot, uint32_t object,
	bool is_write, uint64_t members)
{
	const struct descent_access *access = &descent->access[slot][object];
	const uint64_t epochs = is_write ? access->write_epochs : access->epochs;
	const uint64_t locks = is_write ? access->write_locks : access->locks;
	const uint32_t done = descent->exists >> slot & 1 ? descent->ordinal[slot] : 0;

	if (!epochs || (is_write ? access->last_write : access->last) <= done)
		return false;
	if (!(epochs & descent_sets_epochs(descent, slot, members)))
		return false;
	return !locks || !(locks & descent_held(descent, members));
}

/* Whether `other` may perform an op dependent on the member's pending op before a member moves. */
static bool descent_sets_conflict(
	const struct descent *descent, uint32_t member, uint32_t other, uint64_t members)
{
	const struct dpor_op *op = &descent->op[member];
	const bool needs_write = op->flags & OP_READ;
	const uint16_t object = descent->object[member];

	if (descent->enabled >> other & 1 && dpor_dependent(op, &descent->op[other]))
		return true;
	if (object == DESCENT_WIDE || descent->mutex[member] == DESCENT_WIDE)
		return true;
	if (descent->mutex[member] != DESCENT_PRIVATE &&
		descent_sets_may_access(descent, other, descent->mutex[member], true, members))
		return true;
	if (object == DESCENT_PRIVATE)
		return false;
	return descent_sets_may_access(descent, other, object, needs_write, members) ||
	       (dpor_class_of(op) == OBJECT_MEMORY &&
		       descent_sets_may_access(descent, other, DESCENT_WIDE, needs_write, members));
}

/* Threads that have ever performed an op dependent on the member's pending op, or are at one. */
static uint64_t descent_sets_rivals(const struct descent *descent, uint32_t member)
{
	const struct dpor_op *op = &descent->op[member];
	const uint64_t *accessors = op->flags & OP_READ ? descent->writers : descent->accessors;
	const uint16_t object = descent->object[member], mutex = descent->mutex[member];
	uint64_t rivals = 0;

	if (object == DESCENT_WIDE || mutex == DESCENT_WIDE)
		return UINT64_MAX;
	if (object != DESCENT_PRIVATE)
		rivals |= accessors[object] | accessors[DESCENT_WIDE];
	if (mutex != DESCENT_PRIVATE)
		rivals |= descent->writers[mutex];
	for (uint64_t left = descent->enabled & ~rivals; left; left &= left - 1)
		if (dpor_dependent(op, &descent->op[__builtin_ctzll(left)]))
			rivals |= left & -left;
	return rivals;
}

static uint64_t descent_sets_conflicting(const struct descent *descent,
	struct descent_rivals *rivals, uint32_t member, uint64_t members)
{
	uint64_t found = 0, left;

	if (!(rivals->known >> member & 1)) {
		rivals->of[member] = descent_sets_rivals(descent, member);
		rivals->known |= descent_bit(member);
	}
	left = rivals->of[member] & descent_with_future(descent) & ~members;
	for (; left; left &= left - 1)
		if (descent_sets_conflict(
			    descent, member, (uint32_t)__builtin_ctzll(left), members))
			found |= left & -left;
	return found;
}

static uint64_t descent_sets_holder(const struct descent *descent, uint32_t lock)
{
	if (lock == DPOR_NONE)
		return 0;
	for (uint32_t slot = 0; slot < descent->slot_count; slot++)
		if (descent->held[slot] >> lock & 1)
			return descent_bit(slot);
	return 0;
}

static uint64_t descent_sets_joined(const struct descent *descent, object_name thread)
{
	for (uint32_t slot = 0; slot < descent->slot_count; slot++)
		if (descent->thread_object[slot] == thread)
			return descent_bit(slot);
	return UINT64_MAX;
}

/* Threads without which the disabled thread stays disabled; UINT64_MAX: not known. */
static uint64_t descent_sets_enabling(const struct descent *descent, uint32_t slot)
{
	const struct dpor_op *op = &descent->op[slot];
	uint64_t found;

	if (!(descent->exists >> slot & 1))
		return descent_bit(descent->creator[slot]);
	if (!(op->flags & OP_MAYBLOCK) || descent->object[slot] == DESCENT_WIDE)
		return UINT64_MAX;
	if (op->kind == OP_THREAD_JOIN)
		return descent_sets_joined(descent, op->object);
	if (op->kind == OP_MUTEX_LOCK || op->kind == OP_SPIN_LOCK) {
		found = descent_sets_holder(descent, descent_lock_of(descent, op->object));
		return found ? found : UINT64_MAX;
	}
	if (descent->object[slot] == DESCENT_PRIVATE)
		return UINT64_MAX;
	found = descent_sets_holder(descent, descent_lock_of_second(descent, op->second));
	for (uint64_t left = descent->writers[descent->object[slot]] &
			     descent_with_future(descent) & ~descent_bit(slot);
		left; left &= left - 1)
		if (descent_sets_may_access(descent, (uint32_t)__builtin_ctzll(left),
			    descent->object[slot], true, 0))
			found |= left & -left;
	return found;
}

/* Stops when the closure has `most` of the branches. */
static uint64_t descent_sets_closure(const struct descent *descent, struct descent_rivals *rivals,
	uint32_t slot, uint64_t branches, int most)
{
	const uint64_t all =
		descent->slot_count == 64 ? UINT64_MAX : descent_bit(descent->slot_count) - 1;
	uint64_t members = descent_bit(slot), done = 0;

	while (members & ~done && __builtin_popcountll(members & branches) < most) {
		const uint32_t member = (uint32_t)__builtin_ctzll(members & ~done);

		done |= descent_bit(member);
		if (!descent_has_future(descent, member))
			continue;
		members |= all & (descent->enabled >> member & 1
						 ? descent_sets_conflicting(
							   descent, rivals, member, members)
						 : descent_sets_enabling(descent, member));
	}
	return members;
}

uint64_t descent_branches(const struct descent *descent)
{
	const uint64_t all = descent->enabled & ~descent->asleep;
	const uint64_t before = descent_bit(descent->first) - 1;
	uint64_t best = all, left = descent->enabled;
	struct descent_rivals rivals;

	rivals.known = 0;
	while (left && best & (best - 1)) {
		const uint64_t next = left & ~before ? left & ~before : left;
		const uint32_t slot = (uint32_t)__builtin_ctzll(next);
		const int most = __builtin_popcountll(best);
		const uint64_t branches =
			all & descent_sets_closure(descent, &rivals, slot, all, most);

		if (__builtin_popcountll(branches) < most)
			best = branches;
		left &= ~descent_bit(slot);
	}
	return best;
}

/* Expected number of accesses that the thread has still to perform, the pending one included, in
 * 256ths: the target may have enabled floating-point traps. */
static uint64_t descent_sets_left(const struct descent *descent, uint32_t slot, uint32_t object,
	enum descent_direction direction)
{
	const struct descent_access *access = &descent->access[slot][object];
	const bool is_pending = descent->alive >> slot & 1 && descent->object[slot] == object &&
				!(descent->op[slot].flags & OP_RELEASE) &&
				descent_direction(&descent->op[slot]) == direction;
	const uint64_t done = UINT64_C(256) * access->done[direction];
	const uint64_t least = is_pending ? 256 : 0;

	if (!descent_has_future(descent, slot))
		return 0;
	return access->usual[direction] > done + least ? access->usual[direction] - done : least;
}

/* Expected number of accesses of the threads in `slots`. */
static uint64_t descent_sets_sum(const struct descent *descent, uint64_t slots, uint32_t object,
	enum descent_direction direction)
{
	uint64_t sum = 0;

	for (; slots; slots &= slots - 1)
		sum += descent_sets_left(
			descent, (uint32_t)__builtin_ctzll(slots), object, direction);
	return sum;
}

/*
 * The thread, and those that access the object only under a lock that the thread holds. None of
 * them can be next before the thread, which therefore stands for all.
 */
static uint64_t descent_sets_group(const struct descent *descent, uint32_t slot, uint32_t object)
{
	uint64_t group = descent_bit(slot);

	for (uint64_t left = descent->held[slot] ? descent->accessors[object] : 0; left;
		left &= left - 1)
		if (descent->access[__builtin_ctzll(left)][object].locks & descent->held[slot])
			group |= left & -left;
	return group;
}

/*
 * The number of orders of the accesses to one object, with w writes and r reads per thread, is about
 * a multinomial coefficient of the writes. Each thread's reads multiply this number by a binomial
 * coefficient. Both shares are exact if no thread both reads and writes, and objects are
 * independent.
 */
static uint64_t descent_sets_share_of_write(
	const struct descent *descent, uint32_t slot, uint32_t object)
{
	const uint64_t group = descent_sets_group(descent, slot, object);
	const uint64_t writers = descent->writers[object] | descent_bit(slot);
	const uint64_t writes = descent_sets_sum(descent, writers, object, DESCENT_WRITE);
	const uint64_t own = descent_sets_sum(descent, group & writers, object, DESCENT_WRITE);
	uint64_t share = own ? DESCENT_WHOLE * own / writes : DESCENT_WHOLE;

	for (uint64_t left = descent->accessors[object] & ~group; left; left &= left - 1) {
		const uint32_t other = (uint32_t)__builtin_ctzll(left);
		const uint64_t reads = descent_sets_left(descent, other, object, DESCENT_READ);
		const uint64_t own_writes =
			descent_sets_left(descent, other, object, DESCENT_WRITE);

		if (reads && writes > own_writes &&
			!(descent->access[other][object].locks &
				descent_held(descent, ~descent_bit(other))))
			share = share * (writes - own_writes) / (writes - own_writes + reads);
	}
	return share;
}

static uint64_t descent_sets_share_of_read(
	const struct descent *descent, uint32_t slot, uint32_t object, bool is_delayed)
{
	const uint64_t group = descent_sets_group(descent, slot, object);
	const uint64_t foreign =
		descent_sets_sum(descent, descent->writers[object] & ~group, object, DESCENT_WRITE);
	const uint64_t reads = descent_sets_sum(descent, group, object, DESCENT_READ);

	if (!(foreign + reads))
		return DESCENT_WHOLE;
	return DESCENT_WHOLE * (is_delayed ? foreign : reads) / (foreign + reads);
}

/* Share of the traces in which the sleeping thread is not the next one at its object. */
static uint64_t descent_sets_share_of_sleeper(
	const struct descent *descent, uint32_t sleeper, uint64_t asleep)
{
	const uint16_t object = descent->object[sleeper];
	uint64_t before = DESCENT_WHOLE, share;

	if (object == DESCENT_PRIVATE)
		return 0;
	if (descent_direction(&descent->op[sleeper]) == DESCENT_READ)
		return descent_sets_share_of_read(descent, sleeper, object, true);
	for (uint32_t other = 0; other < sleeper; other++)
		if (asleep >> other & 1 && descent->object[other] == object) {
			share = descent_sets_share_of_write(descent, other, object);
			before -= share < before ? share : before;
		}
	share = descent_sets_share_of_write(descent, sleeper, object);
	return before > share ? DESCENT_WHOLE * (before - share) / before : 0;
}

static uint64_t descent_sets_share(const struct descent *descent, uint32_t slot, uint64_t asleep)
{
	const struct dpor_op *op = &descent->op[slot];
	const uint16_t object = descent->object[slot];
	uint64_t share = DESCENT_WHOLE;

	if (object != DESCENT_PRIVATE && !(op->flags & OP_RELEASE))
		share = descent_direction(op) == DESCENT_READ
				? descent_sets_share_of_read(descent, slot, object, false)
				: descent_sets_share_of_write(descent, slot, object);
	for (uint64_t left = asleep; left; left &= left - 1)
		share = share *
			descent_sets_share_of_sleeper(
				descent, (uint32_t)__builtin_ctzll(left), asleep) /
			DESCENT_WHOLE;
	return share;
}

/* Threads that sleep after the op of `slot`. */
static uint64_t descent_sets_asleep_after(
	const struct descent *descent, uint64_t asleep, uint32_t slot)
{
	uint64_t still = 0;

	for (; asleep; asleep &= asleep - 1) {
		const uint32_t sleeper = (uint32_t)__builtin_ctzll(asleep);

		if (sleeper != slot && !dpor_dependent(&descent->op[sleeper], &descent->op[slot]))
			still |= descent_bit(sleeper);
	}
	return still;
}

void descent_expect(const struct descent *descent, uint64_t branches, uint64_t *shares)
{
	uint64_t asleep = descent->asleep;

	for (; branches; branches &= branches - 1) {
		const uint32_t slot = (uint32_t)__builtin_ctzll(branches);

		shares[slot] = descent_sets_share(
			descent, slot, descent_sets_asleep_after(descent, asleep, slot));
		asleep |= descent_bit(slot); /* earlier branches sleep in later ones */
	}
}

void descent_advance(struct descent *descent, uint32_t slot)
{
	descent->asleep = descent_sets_asleep_after(descent, descent->asleep, slot);
}
