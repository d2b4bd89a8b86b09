/* Merges the wakeup trees of dpor's state and of a task if both have changed since the split. */
#pragma once

#include "base/hash.h"
#include "strategies/dpor/dpor.h"

static inline uint64_t dpor_hash_op(const struct dpor_op *op)
{
	return hash_pair(hash_pair(op->object, op->second),
		(uint64_t)op->untouched << 24 | (uint64_t)op->kind << 16 |
			(uint64_t)op->flags << 8 | op->thread);
}

static inline bool dpor_same_op(const struct dpor_op *a, const struct dpor_op *b)
{
	return dpor_hash_op(a) == dpor_hash_op(b);
}

/* Tasks: whether the step's tree has changed since the split. */
static inline bool dpor_has_changed(const struct dpor_step *step)
{
	return step->changes != step->changes_had;
}

enum dpor_tree { DPOR_TREE_OURS, DPOR_TREE_THEIRS, DPOR_TREE_NEITHER };

/*
 * Chooses the tree that a single state would have. Orders that both states found are in both
 * trees; orders that only one found follow these, where they hide no others.
 */
enum dpor_tree dpor_choose_tree(struct dpor *dpor, struct dpor *task, uint32_t step);

/*
 * Merges the task's trees where dpor_choose_tree() chooses neither. Returns false if the owner's
 * tree may not cover orders that the task left out; additional branches are harmless.
 */
bool dpor_merge_trees(struct dpor *dpor, struct dpor *task);

/* Copies a branch with siblings and subtrees; sets is_lost if there is no space. */
uint32_t dpor_copy_list(struct dpor *to, struct dpor *from, uint32_t branch);
uint64_t dpor_hash_tree(struct dpor *dpor, uint32_t branch);
/* Returns whether both states assign the same slots to the threads that both know. */
bool dpor_has_same_slots(const struct dpor *dpor, const struct dpor *task);
/* Returns whether the task's path to its base exists in the owner's state: each step has a branch. */
bool dpor_has_same_path(struct dpor *dpor, struct dpor *task);
void dpor_join_slots(struct dpor *dpor, const struct dpor *other);
/* Returns whether the task followed its branch to the first leaf, as the owner would (with
 * bystanders). */
bool dpor_follows_same_branch(struct dpor *dpor, struct dpor *task, uint32_t branch);
/*
 * Implements `synchronise` of struct strategy_tasks: makes the trees above the task's base equal,
 * so that each state knows an order before it omits many others. The owner may keep added branches,
 * because they lead to real orders.
 */
bool dpor_synchronise(void *state, void *task);
void dpor_join_found(struct dpor *dpor, uint32_t task);
