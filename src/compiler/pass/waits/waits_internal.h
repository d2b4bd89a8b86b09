/* Shared declarations of waits.c (loops that wait for a value), waits_pair.c (for one of two values),
 * waits_test.c (the values that end it), waits_state.c (what an iteration leaves behind) and waits_build.c (code for the runtime). */
#pragma once

#include "compiler/pass/instrument.h"

#define WAITS_BLOCKS_MOST 16

/* A read whose value decides whether a loop goes on. */
struct waits_read {
	struct site *site;
	/* The blocks of one iteration: first those from the read to the branch, then those that lead back to
	 * the read. */
	LLVMBasicBlockRef blocks[WAITS_BLOCKS_MOST];
	unsigned block_count;
	LLVMBasicBlockRef branching; /* block with the conditional branch */
	LLVMBasicBlockRef exit, back;
	LLVMValueRef condition; /* of that branch, for a thread on this cycle */
	bool continues_if;	/* value of the condition with which the loop continues */
	/* The loop ends when this comparison of the value read with `operand` is true. */
	enum site_wait_test test;
	LLVMValueRef operand;
	const struct waits_read
		*other; /* the other read whose value may end the loop; NULL: none */
};

/* How a thread comes to a block. */
struct waits_edge {
	LLVMBasicBlockRef from;		 /* the block before; NULL: unknown */
	const struct waits_read *branch; /* the branch behind this read was taken; NULL: none */
	bool is_true;			 /* value of its condition */
};

/* Returns whether the memory is a local whose address is unknown to all other code. */
bool waits_is_own(LLVMValueRef pointer);
/*
 * Adds the pure blocks from `block` on to the cycle, up to the read or a branch that depends on more than
 * the edge, whose condition it sets. Returns the last block, or NULL. `after`: the instruction before the
 * first one that is looked at; NULL: begins at the block.
 */
LLVMBasicBlockRef waits_follow(struct waits_read *read, LLVMBasicBlockRef block, LLVMValueRef after,
	struct waits_edge edge);
/* Finds the first conditional branch after the read. Assumes that its successor number `edge` (0 or 1)
 * continues the loop, and the other one leaves it: sets read->back to the former, and read->exit to the
 * block that the latter leads to. Returns false if the code after the read has no such branch. */
bool waits_find_branch(struct waits_read *read, unsigned edge);
/* Returns whether the edge back of `from` leads to the read `to`, and adds the blocks on this edge to `to`. */
bool waits_leads_to(const struct waits_read *from, struct waits_read *to);
/* Returns whether the value is the same in every iteration, so that it can be computed before the read
 * (waits_build.c). `depth`: 0. */
bool waits_is_constant(const struct waits_read *read, LLVMValueRef value, unsigned depth);
bool waits_may_wait(const struct site *site);
/* Returns whether the read is a copy of that of the loop, in front of the loop: it tests the same value, has
 * the same exit, and its other edge leads to the read `next`. Sets *read but for its site. */
bool waits_is_copy(struct waits_read *read, const struct waits_read *loop, struct site *next);

/* ---- the values that end the loop (waits_test.c) ---- */

/* Sets the test for values with which the condition is `is_true`. */
bool waits_set_test(struct waits_read *read, LLVMValueRef condition, bool is_true);
/* Returns whether the condition is that of the branch behind the read, or its opposite: inverts *is_true. */
bool waits_is_same_test(const struct waits_read *read, LLVMValueRef condition, bool *is_true);

/* ---- state of an iteration (waits_state.c) ---- */

/* Returns whether no iteration computes a value that the next iteration, or code behind the loop, uses. */
bool waits_has_no_state(const struct waits_read *read);
/* Returns whether the code after the loop uses no value that an iteration has computed or stored. */
bool waits_is_forgotten(const struct waits_read *read);
/* Returns whether the local is written in the cycle. */
bool waits_is_stored(const struct waits_read *read, LLVMValueRef local);
/* Returns whether the local is the same constant whenever the loop, which reads one location, reaches the read. */
bool waits_has_one_value(const struct waits_read *read, LLVMValueRef local);
/* Returns whether the store writes as many bytes as the type has. */
bool waits_stores_all(LLVMValueRef store, LLVMTypeRef type);
/* Returns whether the blocks store to a local. */
bool waits_stores(const struct waits_read *read);

/* Marks the site `index` if its loop reads one other location, whose read does not wait, and ends when
 * either has a suitable value. */
void waits_mark_pair(struct instrument *instrument, const struct sites *sites, size_t index);
void waits_mark(struct instrument *instrument, struct waits_read *read);
