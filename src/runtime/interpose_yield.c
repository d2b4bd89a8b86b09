/* Giving up the processor: the strategy lets somebody else move first. Runs in the target's threads. */
#include <pthread.h>
#include <sched.h>
#include <threads.h>

#include "runtime/interpose_sync.h"

EXPORT int sched_yield(void)
{
	ENTER();
	engine_point(OP_YIELD, NULL, CALL_SITE);
	return 0;
}

EXPORT void thrd_yield(void)
{
	ENTER();
	engine_point(OP_YIELD, NULL, CALL_SITE);
}

/* A name that old binaries call; the header turns it into sched_yield(). */
EXPORT_ALIAS(pthread_yield, sched_yield);
EXPORT_ALIAS(__sched_yield, sched_yield);
