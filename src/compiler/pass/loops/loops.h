/*
 * Affine loops: each address is an affine function of the iteration number. The range of memory is
 * therefore known at the start of the loop. The pass creates a second copy of such a loop without
 * points. A guard in front selects this copy if the run observes none of that memory (`struct
 * wanted_memory`, abi/instrument_abi.h). The second copy runs at the speed of uninstrumented code.
 *
 * loops.c     finds loops with their entries and exits, and inserts the guard
 * affine.c    iteration counts, first and last addresses
 * loop_copy.c copies the loop
 *
 * Invariant: no other thread runs during the loop, because the observed memory could change then.
 * Loops with calls or atomic accesses therefore have no second copy.
 */
#pragma once

#include "compiler/pass/instrument.h"

#define LOOP_BLOCKS_MOST 24
#define LOOP_INSTRUCTIONS_MOST 600
#define LOOP_ACCESSES_MOST 24

/* An innermost loop. Its header has two predecessors: the block outside, and the latch. */
struct loop {
	LLVMBasicBlockRef header, latch, outside;
	LLVMBasicBlockRef blocks[LOOP_BLOCKS_MOST]; /* blocks[0] is the header */
	unsigned block_count;
	const struct site *accesses[LOOP_ACCESSES_MOST];
	unsigned access_count;
	LLVMValueRef counter; /* The induction variable that ends the loop: a phi of the header. */
	int64_t step;	      /* increment per iteration */
	LLVMValueRef bound;   /* upper bound of the counter */
	bool is_exact;	      /* the loop ends only when the counter equals the bound */
};

/* The iteration counts that the loop's guard computes. */
struct loop_turns {
	/* i1: the iteration count is in the range for which the computed addresses are valid */
	LLVMValueRef is_fit;
	LLVMValueRef last; /* number of the last iteration or slightly more; 64 bits */
};

bool loop_has(const struct loop *loop, LLVMValueRef value);

/* Finds the counter of the loop; false: the exit condition is unsupported. */
bool affine_count(struct loop *loop);
bool affine_is_known(struct instrument *instrument, const struct loop *loop, LLVMValueRef pointer);
/* Emits code at the builder's position, in front of the loop. */
struct loop_turns affine_turns(struct instrument *instrument, const struct loop *loop);
/* Computes the addresses in the first and in the last iteration; 64 bits. */
void affine_ends(struct instrument *instrument, const struct loop *loop, LLVMValueRef pointer,
	LLVMValueRef last_turn, LLVMValueRef *first, LLVMValueRef *last);

/* Replaces a value that the site has taken from its instruction. */
void site_replace(struct site *site, LLVMValueRef old, LLVMValueRef new);

/* Returns whether values computed in the loop can be merged from two copies. */
bool loop_copy_is_possible(const struct loop *loop);
/* Copies the loop. Returns the header of the copy, whose predecessor is `entry` instead of
 * `loop->outside`. `sites`: those of the function; the ones behind the loop get the merged values. */
LLVMBasicBlockRef loop_copy(struct instrument *instrument, const struct sites *sites,
	const struct loop *loop, LLVMBasicBlockRef entry);
