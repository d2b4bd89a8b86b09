/*
 * Waiting loops that read two locations: while (flag[other] && turn == other), as in Peterson's lock.
 * Each value alone ends the loop. While both values continue it, an iteration does nothing. One of the
 * reads therefore waits until one of the locations has a value that ends the loop. Then both reads are
 * executed as before: an iteration that continues nevertheless, after another write, is followed by a
 * wait.
 *
 * A wait for the first read of an iteration excludes that this read is executed, then other threads
 * write, and then the second read ends the loop. If both reads end it in the same edge, this makes no
 * difference: the thread could have executed the first read after these writes, too. Else the second
 * read waits, and the first one is an ordinary step. Earlier iterations do nothing, so that an order of
 * one iteration stands for all orders.
 */
#include "compiler/pass/waits/waits_internal.h"

/* Number of neighbouring sites among which the other read is searched for. */
#define DISTANCE_MOST 6

/* Adds the blocks of `from` to those of `to`. Returns false if there are too many. */
static bool waits_pair_add_blocks(struct waits_read *to, const struct waits_read *from)
{
	for (unsigned i = 0; i < from->block_count; i++) {
		if (has_block(to->blocks, to->block_count, from->blocks[i]))
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
	return !has_block(read->blocks, read->block_count, read->exit) &&
	       waits_is_constant(read, read->site->pointer, 0) &&
	       waits_set_test(read, read->condition, is_true);
}

/* Returns whether both edges out lead to the same location, where the values of an iteration are not used. */
static bool waits_pair_has_same_end(const struct waits_read *first, const struct waits_read *second)
{
	return first->exit == second->exit &&
	       !LLVMIsAPHINode(LLVMGetFirstInstruction(first->exit)) && waits_is_forgotten(first);
}

/* The sites of a function, and the two reads of a loop, whose conditions are known. */
struct waits_pair {
	struct instrument *instrument;
	const struct sites *sites;
	const struct waits_read *first, *second;
};

/* Returns whether the block ends by the branch behind a copy of the first read, and leads to the second. */
static bool waits_pair_has_copy(const struct waits_pair *pair, LLVMBasicBlockRef block)
{
	for (size_t i = pair->sites->first; i < pair->sites->end; i++) {
		struct waits_read read = {.site = &pair->instrument->sites[i]};

		if (waits_is_copy(&read, pair->first, pair->second->site) &&
			read.branching == block)
			return true;
	}
	return false;
}

/* Returns whether each edge into the cycle comes to the first read, or comes from a copy of it. */
static bool waits_pair_begins_with_first(const struct waits_pair *pair)
{
	const struct waits_read *first = pair->first;

	for (unsigned i = 0; i < first->block_count; i++) {
		LLVMValueRef block = LLVMBasicBlockAsValue(first->blocks[i]);

		for (LLVMUseRef use = LLVMGetFirstUse(block); use; use = LLVMGetNextUse(use)) {
			struct waits_read probe = {.site = first->site};
			LLVMBasicBlockRef from;

			if (!LLVMIsAInstruction(LLVMGetUser(use)))
				return false;
			from = LLVMGetInstructionParent(LLVMGetUser(use));
			if (!has_block(first->blocks, first->block_count, from) &&
				waits_follow(&probe, first->blocks[i], NULL,
					(struct waits_edge){.from = from}) !=
					LLVMGetInstructionParent(first->site->instruction) &&
				!waits_pair_has_copy(pair, from))
				return false;
		}
	}
	return true;
}

/* Finds the cycle from `first` to `second` and back. */
static bool waits_pair_find(
	struct waits_read *first, struct waits_read *second, unsigned edge, unsigned second_edge)
{
	return waits_find_branch(first, edge) && waits_find_branch(second, second_edge) &&
	       waits_leads_to(first, second) && waits_leads_to(second, first) &&
	       waits_pair_add_blocks(first, second) && waits_pair_add_blocks(second, first) &&
	       waits_has_no_state(first) && waits_pair_is_known(first, edge == 1) &&
	       waits_pair_is_known(second, second_edge == 1);
}

static bool waits_pair_may_wait(const struct site *site)
{
	return waits_may_wait(site) && (site->kind == SITE_LOAD || site->kind == SITE_ATOMIC_LOAD);
}

void waits_mark_pair(struct instrument *instrument, const struct sites *sites, size_t index)
{
	struct site *site = &instrument->sites[index];

	for (size_t i = sites->first; waits_pair_may_wait(site) && i < sites->end; i++) {
		struct site *other = &instrument->sites[i];

		if (i == index || i + DISTANCE_MOST < index || i > index + DISTANCE_MOST ||
			other->flags & SITE_WAITS || !waits_pair_may_wait(other))
			continue;
		for (unsigned edges = 0; edges < 4; edges++) {
			struct waits_read first = {.site = site}, second = {.site = other};

			first.other = &second;
			second.other = &first;
			if (!waits_pair_find(&first, &second, edges & 1, edges >> 1))
				continue;
			if (waits_pair_has_same_end(&first, &second))
				waits_mark(instrument, &first);
			else if (waits_pair_begins_with_first(
					 &(struct waits_pair){instrument, sites, &first, &second}))
				waits_mark(instrument, &second);
			else
				continue;
			return;
		}
	}
}
