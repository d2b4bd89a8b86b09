/* Loops that wait: the patterns of ad hoc synchronisation. */
#pragma once

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Returns whether a branch ends a loop that only reads, yields and waits, until another thread
 * changes what it reads. */
bool loop_is_waiting(LLVMValueRef branch);
/* Returns the branch's successor outside of a waiting loop without locks; -1: the branch belongs to
 * no such loop. */
int loop_spin_leaves(LLVMValueRef branch);
