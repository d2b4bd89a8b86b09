/* Recognises a process that is blocked for ever, as one whose threads have deadlocked natively. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns whether the process waits for ever: each thread waits without a time limit on a futex that
 * no other process can wake, no signal has a handler, and no thread ran between two looks at all of
 * them. The answer is certain, but for what writes into the process's memory from outside. A
 * process that waits in any other way (input, a child, a socket) is never meant.
 */
bool follow_is_blocked_for_ever(pid_t process);
