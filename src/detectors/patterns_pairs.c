/*
 * Patterns over two variables: Lai, Cheung and Chan, "Detecting Atomic-Set Serializability
 * Violations in Multithreaded Programs through Active Randomized Testing", ICSE 2010, table 1, rows
 * 6 to 11. An addition are patterns in which a thread reads one variable and writes the other.
 *
 * Deviation: the table presumes declared units of work and atomic sets. This detector instead pairs
 * an access with its thread's last accesses to a few other variables (PATTERNS_RECENT). The
 * detector finds accesses that are still in the windows.
 */
#include "detectors/patterns_internal.h"

/* Index of a kind: patterns.def orders the 27 kinds by the order of accesses, then by the accesses
 * to x, then to y. */
enum pair_order { ENCLOSING_X, ENCLOSING_Y, CROSSING };

static unsigned patterns_pairs_conflict_index(
	const struct patterns_access *first, const struct patterns_access *second)
{
	if (first->is_write)
		return second->is_write ? 0 : 1;
	return 2;
}

static enum pattern_kind patterns_pairs_pair_kind(
	enum pair_order order, const struct patterns_part x[2], const struct patterns_part y[2])
{
	return (enum pattern_kind)(PATTERN_WxWxWyWy + 9 * (unsigned)order +
				   3 * patterns_pairs_conflict_index(x[0].access, x[1].access) +
				   patterns_pairs_conflict_index(y[0].access, y[1].access));
}

static bool patterns_pairs_is_conflict(
	const struct patterns_access *a, const struct patterns_access *b)
{
	return a->is_write || b->is_write;
}

/* Returns the newest access of `thread` after step `after` that conflicts with `with`, or NULL. */
static const struct patterns_access *patterns_by(struct patterns_state *state,
	const struct patterns_variable *variable, uint16_t thread, uint32_t after,
	const struct patterns_access *with)
{
	for (uint32_t i = 0; i < variable->count; i++) {
		const struct patterns_access *entry = patterns_entry(state, variable, i);

		if (entry->step <= after)
			return NULL;
		if (entry->thread == thread && patterns_pairs_is_conflict(entry, with))
			return entry;
	}
	return NULL;
}

/* Finds the pattern: a thread accesses x and then y; in between, another thread accesses both. */
static void patterns_find_enclosing(struct patterns_state *state,
	const struct patterns_part *before, const struct patterns_part *now)
{
	for (uint32_t i = 0; i < before->variable->count; i++) {
		const struct patterns_access *on_x = patterns_entry(state, before->variable, i);
		const struct patterns_access *on_y;

		if (on_x->step <= before->access->step)
			return;
		if (on_x->thread == now->access->thread ||
			!patterns_pairs_is_conflict(on_x, before->access))
			continue;
		on_y = patterns_by(
			state, now->variable, on_x->thread, before->access->step, now->access);
		if (on_y) {
			const struct patterns_part x[] = {*before, {on_x, before->variable}};
			const struct patterns_part y[] = {{on_y, now->variable}, *now};
			const bool is_x_first = on_x->step < on_y->step;
			const struct patterns_part parts[] = {
				x[0], is_x_first ? x[1] : y[0], is_x_first ? y[0] : x[1], y[1]};

			patterns_keep(state,
				patterns_pairs_pair_kind(
					is_x_first ? ENCLOSING_X : ENCLOSING_Y, x, y),
				parts);
			return;
		}
	}
}

/* Finds the pattern: another thread accesses x, then y; in between this thread accesses y,
 * afterwards x. */
static void patterns_find_crossing(struct patterns_state *state, const struct patterns_part *before,
	const struct patterns_part *now)
{
	for (uint32_t i = 0; i < now->variable->count; i++) {
		const struct patterns_access *on_x = patterns_entry(state, now->variable, i);
		const struct patterns_access *on_y;

		if (on_x->thread == now->access->thread || on_x->step >= before->access->step ||
			!patterns_pairs_is_conflict(on_x, now->access))
			continue;
		on_y = patterns_by(state, before->variable, on_x->thread, before->access->step,
			before->access);
		if (on_y) {
			const struct patterns_part x[] = {{on_x, now->variable}, *now};
			const struct patterns_part y[] = {*before, {on_y, before->variable}};
			const struct patterns_part parts[] = {x[0], y[0], y[1], x[1]};

			patterns_keep(state, patterns_pairs_pair_kind(CROSSING, x, y), parts);
			return;
		}
	}
}

void patterns_find_pair(struct patterns_state *state, const struct patterns_part *before,
	const struct patterns_part *now)
{
	patterns_find_enclosing(state, before, now);
	patterns_find_crossing(state, before, now);
}
