/* Loops that wait: the patterns of ad hoc synchronisation. */
#ifndef RADDLE_BRANCHES_SOLVE_LOOPS_H
#define RADDLE_BRANCHES_SOLVE_LOOPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/*
 * Whether the branch ends a loop that only reads memory, yields, and waits for locks and condition
 * variables, until another thread changes what the loop reads.
 */
bool loop_is_waiting(LLVMValueRef branch);
/*
 * For a two-way branch of a waiting loop without locks: the successor outside of the loop; -1:
 * none.
 */
int loop_spin_leaves(LLVMValueRef branch);

#endif
