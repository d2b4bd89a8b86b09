/* Loops that wait: the patterns of ad hoc synchronisation. */
#ifndef RADDLE_SENSITIVITY_LOOPS_H
#define RADDLE_SENSITIVITY_LOOPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/*
 * Does the branch end a loop that only looks at memory, gives way, or waits at locks and condition
 * variables, until another thread has changed what it looks at?
 */
bool loop_is_waiting(LLVMValueRef branch);

#endif
