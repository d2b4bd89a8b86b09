/*
 * Calling contexts: which functions of raddle-cc's code each thread is in, by the sites at entry
 * and exit (instrument_abi.h). The files are active only with plan.has_contexts.
 *
 * The *context* of a thread is a hash of its active calls from its first function on, each by call
 * site and callee; 0 means no call. It is equal in every run. The hash leaves out functions entered
 * before the first thread creation, and functions deeper than CONTEXTS_DEPTH. An exit by an
 * exception or longjmp is noticed at the next site, by the frame. A function stays active while it
 * executes a tail call.
 *
 * Traces contain functions as events of their own. OP_ENTER precedes the first event inside the
 * function (site: of the function; callers[0]: the return address; object: the context; address:
 * the frame). OP_LEAVE follows when that function is left (bytes: 1 after an exception or longjmp).
 * Functions without an event do not appear.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "abi/instrument_abi.h"

#define CONTEXTS_DEPTH 128

/* Called once, before any run. Returns false if there is no memory. */
bool contexts_set_up(void);
void contexts_begin_run(void);
/* Updates the moving thread's context. `frame`: its frame pointer. The code uses general registers
 * only. */
void contexts_note(const struct site_record *record, uintptr_t frame);
uint32_t contexts_of(struct thread_id thread);
/* Traces the OP_ENTER and OP_LEAVE events that are due before the thread's next event. */
void contexts_report(struct thread_id thread, uint64_t step);
/* Stores the return addresses around the thread's op, innermost first, then 0. Returns false if
 * unknown. */
bool contexts_callers(struct thread_id thread, uint64_t *callers, unsigned capacity);
