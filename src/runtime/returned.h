/*
 * Blocks of the heap that were given back and whose memory was not given out again: freeing one once
 * more, or an operation on a mutex, a stream or the like that lies in one, is a failure, also in
 * programs with no instrumented code. The latest blocks of a run are known, those made by glibc.
 * What is told is certain; what is not known is not told.
 *
 * Runs in the moving thread; one page, restored with the run.
 */
#ifndef RADDLE_RUNTIME_RETURNED_H
#define RADDLE_RUNTIME_RETURNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* Where no image of the memory is restored: nothing was given back yet. */
void returned_begin_run(void);
/* A run goes live in a program of AddressSanitizer: what was freed its runtime knows. */
void returned_look_for_shadow(void);
/* The block is about to be given back at `site`. The run ends here if it was before. */
void returned_note(void *block, uint64_t site);
/* The memory is given out. */
void returned_given_out(const void *block, size_t bytes);
/* The op is about to take effect. The run ends here if its object is no more. engine_host.used. */
void returned_check_use(const struct engine_op *op);

#endif
