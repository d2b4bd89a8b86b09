/*
 * The meaning of pthread_once_t and once_flag. The caller runs the routine between once_enter() and
 * once_done(). If cancellation or an exception leaves the routine, once_abandon() lets the next
 * caller run it again.
 */
#ifndef RADDLE_ENGINE_ONCE_H
#define RADDLE_ENGINE_ONCE_H

#include <stdint.h>

#include "engine/engine.h"

/* Has the size of pthread_once_t. */
struct once {
	uint16_t stage;	 /* enum once_stage */
	uint16_t runner; /* sync_mark of the thread that runs the routine */
};

/* glibc's values, because the program may have used the object before the runtime took control. */
enum once_stage { ONCE_NEVER = 0, ONCE_RUNNING = 1, ONCE_DONE = 2 };

/*
 * 0: the routine has completed. EAGAIN: the caller must run the routine. SYNC_CANCELLED only under
 * asynchronous cancellation. A completed control makes no scheduling point, because nothing can
 * change it.
 */
int once_enter(struct once *once, uint64_t site);
void once_done(struct once *once, uint64_t site);
/* No scheduling point: called while the stack is unwound. */
void once_abandon(struct once *once);

/* An engine_holder function: the thread that runs the routine. */
struct thread_id once_holder(const void *address, uint64_t *site);

#endif
