/* The wakeup trees of a state of dpor and of a part of it, which both have changed: dpor_parts.c. */
#ifndef RADDLE_STRATEGIES_DPOR_MERGE_H
#define RADDLE_STRATEGIES_DPOR_MERGE_H

#include "base/hash.h"
#include "strategies/dpor.h"

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

#endif
