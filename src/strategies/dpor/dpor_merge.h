/* The wakeup trees of a state of dpor and of a part of it, which both have changed: dpor_parts.c. */
#ifndef RADDLE_STRATEGIES_DPOR_DPOR_MERGE_H
#define RADDLE_STRATEGIES_DPOR_DPOR_MERGE_H

#include "base/hash.h"
#include "strategies/dpor/dpor.h"

static inline uint64_t dpor_hash_op(const struct dpor_op *op)
{
	return hash_pair(hash_pair(op->object, op->second),
		(uint64_t)op->kind << 16 | (uint64_t)op->flags << 8 | op->thread);
}

static inline bool dpor_same_op(const struct dpor_op *a, const struct dpor_op *b)
{
	return dpor_hash_op(a) == dpor_hash_op(b);
}

/* Of a part: since it was split off. */
static inline bool dpor_has_changed(const struct dpor_step *step)
{
	return step->changes != step->changes_had;
}

enum dpor_tree { DPOR_TREE_OURS, DPOR_TREE_THEIRS, DPOR_TREE_NEITHER };

/*
 * Which of the two trees of the step is what one state would have made of it. Orders that both have found are in both,
 * and those that only one has found behind them, where they can take nothing from the others.
 */
enum dpor_tree dpor_choose_tree(struct dpor *dpor, struct dpor *part, uint32_t step);

/*
 * Puts what the part has put into its trees into ours, where neither will do. False: what the part has left out cannot be
 * told to be covered; ours may be changed a little then, which does no harm.
 */
bool dpor_merge_trees(struct dpor *dpor, struct dpor *part);

/* The branch and its siblings, with all behind them; is_lost: there is no room for all. */
uint32_t dpor_copy_list(struct dpor *to, struct dpor *from, uint32_t branch);
/* Likewise. */
uint64_t dpor_hash_tree(struct dpor *dpor, uint32_t branch);
/* Both know the same threads by the same slots. */
bool dpor_has_same_slots(const struct dpor *dpor, const struct dpor *part);
/* The other one may know more threads. */
void dpor_meet_slots(struct dpor *dpor, const struct dpor *other);
/*
 * Has the part gone the way that we would go from its branch, down to the first leaf? Ops that have nothing to do with the
 * tree may have been put before it: dpor_bystander().
 */
bool dpor_has_gone_our_way(struct dpor *dpor, struct dpor *part, uint32_t branch);
/*
 * As in struct strategy_parts: merges the trees on the way to the part's base while both go on, and makes them equal. So what
 * one finds the other knows before it leaves out much for the sake of what it has found itself. Our tree keeps
 * what was put into it even if the part is of no use after all: it leads to orders that are there.
 */
bool dpor_tell(void *state, void *part);
/* That part is joined: the turn of all that it has found has come. */
void dpor_join_found(struct dpor *dpor, uint32_t part);

#endif
