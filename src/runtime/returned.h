/*
 * Freed heap blocks whose memory was not allocated again. A second free of such a block is a failure. So is an
 * operation on a mutex, a stream or another object inside it, even in programs without instrumented code. The latest
 * freed blocks of a run are known, if glibc allocated them. Every report is certain; unknown cases are not reported.
 *
 * Runs in the moving thread. The state is one page, restored with the run.
 */
#ifndef RADDLE_RUNTIME_RETURNED_H
#define RADDLE_RUNTIME_RETURNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* Forgets all freed blocks, where the restart restores no memory image. */
void returned_begin_run(void);
/* Called when a run begins in a program with AddressSanitizer: its shadow memory knows the freed blocks. */
void returned_look_for_shadow(void);
/* Called before `site` frees the block. Ends the run if it was freed before. */
void returned_note(void *block, uint64_t site);
/* Called when memory is allocated again. */
void returned_given_out(const void *block, size_t bytes);
/* Implements engine_host.used: called before an op takes effect. Ends the run if the op's object
 * lies in a freed block. */
void returned_check_use(const struct engine_op *op);

#endif
