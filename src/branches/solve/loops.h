/* Loops that wait: the patterns of ad hoc synchronisation. */
#ifndef RADDLE_BRANCHES_SOLVE_LOOPS_H
#define RADDLE_BRANCHES_SOLVE_LOOPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Loops that wait are short. */
#define LOOP_BLOCKS_MOST 24

struct loop_body {
	LLVMBasicBlockRef blocks[LOOP_BLOCKS_MOST];
	unsigned count;
};

/* loops_bodies.c: the innermost loop that the block is in. False: there is none, it is long, or the function is. */
bool loop_around(LLVMBasicBlockRef block, struct loop_body *body);
bool loop_body_has(const struct loop_body *body, LLVMBasicBlockRef block);

/*
 * Does the branch end a loop that only looks at memory, gives way, or waits at locks and condition
 * variables, until another thread has changed what it looks at?
 */
bool loop_is_waiting(LLVMValueRef branch);
/* Of such a branch with two ways, of a loop without locks: the number of the one that leaves it. -1: it is none. */
int loop_spin_leaves(LLVMValueRef branch);

#endif
