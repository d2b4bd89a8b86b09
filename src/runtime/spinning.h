/* Threads that wait in loops without blocking, and loops that never end. */
#pragma once

#include "runtime/memory.h"

/* ---- loops whose accesses are scheduling points (spinning.c) ---- */

/* Resets the threads below `count`, where the restart restores no memory image. */
void spinning_begin_run(uint32_t count);
/* Called past the scheduling point of this access. A thread that only repeats reads of unchanged
 * values is not scheduled again until another thread has run. */
void spinning_note(const struct memory_access *access);

/* ---- threads that reach no scheduling point (spin.c) ---- */

/* Called when the command has seen no step for a while. `site`: the code that runs now. */
void runtime_spin_look(uint64_t site);
/* Starts the timer that detects spinning threads, if a run has found one. Once per process. */
void runtime_spin_watch(void);
void runtime_spin_stop(void);
/* Called when the timer expires. `site`: the interrupted code. */
void runtime_spin_tick(uint64_t site);
/* Turns the sites off until the next operation, after a long time without a step: a computing
 * thread then runs at native speed. */
void runtime_run_natively(void);
/* Called before each operation: turns the sites on again. */
void runtime_run_controlled(void);
/* Gives every thread that may be computing the full time limit before a hang is reported. Returns
 * true if another thread runs with a new limit. */
bool runtime_hang_is_doubtful(void);
/* Called at the entry of an interposed function, after a request by runtime_spin_tick(). */
void runtime_spin_enter(uint64_t site);

/* ---- endless loops (repetition.c) ---- */

/* Called in the timer's signal handler. Returns true if the only enabled thread was in the same
 * state before, and so repeats a loop for ever. */
bool runtime_is_endless(const void *context);
/* Implements engine_host.digest. */
bool repetition_digest(const void *stack_pointer, uint64_t *digest);
