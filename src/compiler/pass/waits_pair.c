/*
 * Waiting loops that read two locations: while (flag[other] && turn == other), as in Peterson's lock.
 * Each value alone ends the loop. While both values continue it, an iteration does nothing. One of the
 * reads therefore waits until one of the locations has a value that ends the loop. Then both reads are
 * executed as before: an iteration that continues nevertheless, after another write, is followed by a
 * wait.
 *
 * A thread that waits misses what an iteration stores in locals. All these locals are dead at the read
 * (waits_state.c).
 */
#include "compiler/pass/waits_internal.h"

/* Number of neighbouring sites among which the other read is searched for. */
#define DISTANCE_MOST 6

/* Adds the blocks of `from` to those of `to`. Returns false if there are too many. */
static bool waits_pair_add_blocks(struct waits_read *to, const struct waits_read *from)
{
	for (unsigned i = 0; i < from->block_count; i++) {
		if (waits_has_block(to, from->blocks[i]))
			continue;
		if (to->block_count == WAITS_BLOCKS_MOST)
			return false;
		to->blocks[to->block_count++] = from->blocks[i];
	}
	return true;
}

/* `read` has all blocks of the cycle. `is_true`: the value of the condition with which the loop ends. */
static bool waits_pair_is_known(struct waits_read *read, bool is_true)
{
	return !waits_has_block(read, read->exit) &&
	       waits_is_constant(read, read->site->pointer, 0) &&
	       waits_set_test(read, read->condition, is_true);
}

/* Finds the cycle from `first` to `second` and back. */
static bool waits_pair_find(
	struct waits_read *first, struct waits_read *second, unsigned way, unsigned second_way)
{
	return waits_find_branch(first, way) && waits_find_branch(second, second_way) &&
	       waits_leads_to(first, second) && waits_leads_to(second, first) &&
	       waits_pair_add_blocks(first, second) && waits_pair_add_blocks(second, first) &&
	       waits_has_no_state(first) && waits_pair_is_known(first, way == 1) &&
	       waits_pair_is_known(second, second_way == 1);
}

static bool waits_pair_may_wait(const struct site *site)
{
	return waits_may_wait(site) && (site->kind == SITE_LOAD || site->kind == SITE_ATOMIC_LOAD);
}

void waits_mark_pair(struct instrument *instrument, const struct sites *sites, size_t index)
{
	struct site *site = &instrument->sites[index];

	for (size_t i = sites->first; waits_pair_may_wait(site) && i < sites->end; i++) {
		if (i == index || i + DISTANCE_MOST < index || i > index + DISTANCE_MOST ||
			instrument->sites[i].flags & SITE_WAITS ||
			!waits_pair_may_wait(&instrument->sites[i]))
			continue;
		for (unsigned ways = 0; ways < 4; ways++) {
			struct waits_read second = {.site = &instrument->sites[i]};
			struct waits_read first = {.site = site, .other = &second};

			if (!waits_pair_find(&first, &second, ways & 1, ways >> 1))
				continue;
			waits_mark(instrument, &first);
			return;
		}
	}
}
