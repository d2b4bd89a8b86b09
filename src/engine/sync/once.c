#include "engine/sync.h"

#include <pthread.h>
#include <threads.h>

_Static_assert(sizeof(struct once) == sizeof(pthread_once_t), "glibc's size");
_Static_assert(sizeof(struct once) == sizeof(once_flag), "glibc's size");

/* Returns whether the routine is running. In a forked child, a thread of the parent does not exist,
 * so its routine is not running. */
static bool once_is_running(const struct once *once)
{
	const struct engine_thread *runner = sync_thread(once->runner);

	return once->stage == ONCE_RUNNING && runner && runner->state == THREAD_ALIVE;
}

static bool once_is_ready(const struct engine_op *op, const struct engine_thread *thread)
{
	(void)thread;
	return !once_is_running(op->address);
}

int once_enter(struct once *once, uint64_t site)
{
	struct engine_op op = {.kind = OP_ONCE_ENTER,
		.address = once,
		.site = site,
		.ready = once_is_ready,
		.deadline_ns = ENGINE_FOREVER};
	enum engine_result result;

	if (once->stage == ONCE_DONE) {
		engine_note(OP_ONCE_ENTER, once, site);
		return 0;
	}
	result = engine_perform(&op);
	if (result != WAIT_DONE)
		return sync_error(result);
	if (once->stage == ONCE_DONE)
		return 0;
	once->stage = ONCE_RUNNING;
	once->runner = sync_mark(engine_current());
	engine_changed(once);
	return EAGAIN;
}

void once_done(struct once *once, uint64_t site)
{
	engine_point(OP_ONCE_DONE, once, site);
	once->stage = ONCE_DONE;
	once->runner = 0;
	engine_changed(once);
}

void once_abandon(struct once *once)
{
	/* the abandoned routine happens before the next one */
	engine_note(OP_ONCE_DONE, once, 0);
	once->stage = ONCE_NEVER;
	once->runner = 0;
	engine_changed(once);
}

struct thread_id once_holder(const struct once *once)
{
	return sync_holder(once->runner);
}
