/*
 * Store buffers of --memory-model tso. A plain, relaxed or release store of a thread waits in the
 * thread's buffer until a *drain* makes it visible to the others. A drain is the step of a
 * *drainer*: an entry in the table of threads that has no code. It is enabled while its buffer is
 * not empty, so every strategy chooses when a store becomes visible. An operation other than a
 * read is disabled until its thread's buffer is empty.
 *
 * The threads' code stays as it is. While a thread moves, memory holds its own view: its buffered
 * values lie over those that the other threads see. A context switch exchanges them.
 *
 * Owens, Sarkar, Sewell, "A better x86 memory model: x86-TSO", TPHOLs 2009. Deviation: buffers are
 * bounded. A store that finds its buffer full waits until the buffer is empty.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/engine.h"

/* Returns whether the run is live and has store buffers. */
bool engine_has_store_buffers(void);
/* Returns whether the moving thread's buffer holds a store. */
bool engine_has_buffered(void);
/*
 * Called before the moving thread makes a plain, relaxed or release store. Returns false if the
 * store cannot be buffered: the caller then calls engine_perform(), which first drains the buffer.
 * `is_point`: other threads may see the variable. Other stores keep their location in the order, but
 * their drain is no step of its own.
 */
bool engine_buffer_store(const struct engine_op *op, bool is_point);
/* Called before the moving thread accesses memory directly, after the scheduling point: notes
 * stores that this access shows to be delayed. */
void engine_note_direct_access(const struct engine_op *op);
/* Drains the buffers of all threads up to their last store to this memory, which is freed. */
void engine_drain_freed(const void *start, size_t bytes);
