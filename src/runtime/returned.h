/* Freed heap blocks whose memory was not allocated again. A second free of such a block is a
 * failure; so is an operation on an object inside it (mutex, stream, ...), even without
 * instrumented code. Known are the latest freed blocks of a run that glibc allocated. A mutex, condition
 * variable or read-write lock that one thread destroys and another one uses is the same failure, also
 * on a stack. Every report is certain. Runs in the moving thread. The state is one page, restored with the run. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* Called at the begin of a run where the restart restores no memory image. */
void returned_begin_run(void);
/* Called when a run begins. Looks for AddressSanitizer's shadow memory: it marks freed blocks. */
void returned_look_for_shadow(void);
/* Called before the free. Ends the run at a double free. While other threads live, overwrites the pointers in the
 * block (model/memory/freed_word.h). Returns true if the caller must not free the block: small blocks are held until 64
 * others are freed, so that no new object takes their memory at once. */
bool returned_note(void *block, uint64_t site);
/* Implements engine_host.destroyed. */
void returned_note_destroyed(const struct engine_op *op, size_t bytes);
/* Decides whether the block has to leave its place if it grows to `bytes`: other threads that use its old address then
 * fail. */
bool returned_moves(void *block, size_t bytes);
/* Called when the memory is allocated again. */
void returned_given_out(const void *block, size_t bytes);
/* Implements engine_host.used: ends the run if the op's object lies in a freed block, or
 * another thread has destroyed it. */
void returned_check_use(const struct engine_op *op);
