/*
 * Loops that touch memory evenly: each address of theirs is an affine function of how often the loop has
 * gone round, so it is known at its beginning which memory they will touch. Of such a loop there are two
 * copies, one of them without points. A guard in front of them takes that one where nothing in the loop's memory
 * is wanted (`struct wanted_memory`, abi/instrument_abi.h): it goes as fast as if there were no sites.
 *
 *	loops.c	finds loops and their ways in and out, puts the guard in front
 *	affine.c	their addresses, at the beginning and at the end
 *	loop_copy.c	the copy
 *
 * Loops in which another thread may get its turn, by a call or an atomic access, have no second copy: what is wanted may
 * change then.
 */
#ifndef RADDLE_COMPILER_PASS_LOOPS_H
#define RADDLE_COMPILER_PASS_LOOPS_H

#include "compiler/pass/instrument.h"

#define LOOP_BLOCKS_MOST 24
#define LOOP_INSTRUCTIONS_MOST 600
#define LOOP_ACCESSES_MOST 24

/* One without loops in it. Its header has two ways in: from outside, and from the latch. */
struct loop {
	LLVMBasicBlockRef header, latch, outside;
	LLVMBasicBlockRef blocks[LOOP_BLOCKS_MOST]; /* the header is the first */
	unsigned block_count;
	const struct site *accesses[LOOP_ACCESSES_MOST];
	unsigned access_count;
	/* The number that decides when it ends: a phi of the header, */
	LLVMValueRef counter;
	int64_t step;	    /* what it grows by each time, */
	LLVMValueRef bound; /* where the loop ends at the latest, */
	bool is_exact;	    /* and it ends only where they are the same. */
};

/* What the guard has computed of the loop's turns. */
struct loop_turns {
	LLVMValueRef is_fit; /* they are neither too few nor too many to say anything */
	LLVMValueRef last;   /* the number of the last one, or a little more; 64 bits */
};

bool loop_has_block(const struct loop *loop, LLVMBasicBlockRef block);
bool loop_has(const struct loop *loop, LLVMValueRef value);

/* Finds out what decides when the loop ends; false: nothing of the kind that is known here. */
bool affine_count(struct loop *loop);
/* Is the address known at the beginning? */
bool affine_is_known(struct instrument *instrument, const struct loop *loop, LLVMValueRef pointer);
/* Code where the builder stands, in front of the loop. */
struct loop_turns affine_turns(struct instrument *instrument, const struct loop *loop);
/* The address in the first turn, and in the last one; 64 bits. */
void affine_ends(struct instrument *instrument, const struct loop *loop, LLVMValueRef pointer,
	LLVMValueRef last_turn, LLVMValueRef *first, LLVMValueRef *last);

/* Can what it computes be handed on from two copies? */
bool loop_copy_is_possible(const struct loop *loop);
/* Copies it; returns the copy's header, which is entered from `entry` where the loop is entered from `loop->outside`. */
LLVMBasicBlockRef loop_copy(
	struct instrument *instrument, const struct loop *loop, LLVMBasicBlockRef entry);

#endif
