/* Loops that wait: the patterns of ad hoc synchronisation. */
#ifndef RADDLE_BRANCHES_SOLVE_LOOPS_H
#define RADDLE_BRANCHES_SOLVE_LOOPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/*
 * Whether the branch ends a loop that waits until another thread changes what the loop reads. Such
 * a loop only reads memory, yields, and waits for locks and condition variables.
 */
bool loop_is_waiting(LLVMValueRef branch);
/*
 * For a two-way branch of a waiting loop without locks: the number of the successor outside of the
 * loop. -1: no such branch.
 */
int loop_spin_leaves(LLVMValueRef branch);

#endif
