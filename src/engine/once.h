/*
 * The meaning of pthread_once_t and once_flag. The caller runs the routine between once_enter() and
 * once_done(); when the routine is left by cancellation or an exception, once_abandon() makes the
 * next caller run it again.
 */
#ifndef RADDLE_ENGINE_ONCE_H
#define RADDLE_ENGINE_ONCE_H

#include <stdint.h>

#include "engine/engine.h"

/* As large as pthread_once_t. */
struct once {
	uint16_t stage;	 /* enum once_stage */
	uint16_t runner; /* sync_mark of the thread that runs the routine */
};

/* glibc's values, so that an object that was used before control began is understood. */
enum once_stage { ONCE_NEVER = 0, ONCE_RUNNING = 1, ONCE_DONE = 2 };

/*
 * 0: the routine has been run. EAGAIN: the caller is to run it. SYNC_CANCELLED under asynchronous
 * cancellation only. A control that is done makes no scheduling point: nothing can change it.
 */
int once_enter(struct once *once, uint64_t site);
void once_done(struct once *once, uint64_t site);
/* No scheduling point: called while the stack is unwound. */
void once_abandon(struct once *once);

/* An engine_holder: who runs the routine. */
struct thread_id once_holder(const void *address, uint64_t *site);

#endif
