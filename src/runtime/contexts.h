/*
 * Calling contexts: which functions of raddle-cc's code each thread is in, followed at the sites where
 * they are entered and left (instrument_abi.h). Only with plan.has_contexts.
 *
 * The *context* of a thread is a hash of the calls that it is in, from its first function on, each by
 * its place and the function that it leads to; 0: it is in none. It is equal in every run. Functions
 * that were entered before the first thread was created are not known, nor are those beyond
 * CONTEXTS_DEPTH. What is left by an exception or longjmp is noticed at the next site, by its frame.
 * A function that calls another one in the place of its return is still in that call.
 *
 * In traces functions are told as events of their own: OP_ENTER (site: of the function; callers[0]: the
 * return address; object: the context; address: the frame) right before the first event that happens
 * in them, and OP_LEAVE when such a function is left (bytes: 1 where it did not
 * return: an exception or longjmp went through it). Functions in which nothing happens are not told.
 */
#ifndef RADDLE_RUNTIME_CONTEXTS_H
#define RADDLE_RUNTIME_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "abi/instrument_abi.h"

#define CONTEXTS_DEPTH 128

/* Once, before any run. False: there is no memory for it. */
bool contexts_set_up(void);
void contexts_begin_run(void);
/* The moving thread is at a point, with this frame pointer. General registers only. */
void contexts_note(const struct site_record *record, uintptr_t frame);
uint32_t contexts_of(struct thread_id thread);
/* Before an event of the thread is traced: the functions that it is in. */
void contexts_tell(struct thread_id thread, uint64_t step);
/* Return addresses around the thread's op, innermost first, then 0. False: they are not known. */
bool contexts_callers(struct thread_id thread, uint64_t site, uint64_t *callers, unsigned capacity);

#endif
