/*
 * The executor: how the engine's threads are carried by the machine. Two are real (fibers on one
 * kernel thread; kernel threads that hand a baton on), one is for tests (plain coroutines). At any
 * moment exactly one thread moves; `transfer` hands that right on.
 */
#ifndef RADDLE_ENGINE_EXECUTOR_H
#define RADDLE_ENGINE_EXECUTOR_H

#include <stdbool.h>

struct engine_thread;

struct executor {
	const char *name; /* "fiber", "kernel" */
	bool can_clone;	  /* a raw fork carries all threads over */
	bool can_rewind;  /* memory images restore all threads */
	/* Makes a parked context that will call engine_thread_main(thread). 0 or a positive errno.
	 */
	int (*spawn)(struct engine_thread *thread, const void *attributes);
	/* Parks `from`, resumes `to`; returns when `from` is resumed. */
	void (*transfer)(struct engine_thread *from, struct engine_thread *to);
	/* `from` has ended: resumes `to`. A fiber never comes back; a kernel thread returns and
	 * exits. */
	void (*finish)(struct engine_thread *from, struct engine_thread *to);
	/* The thread is over and joined (or detached): its stack and thread-local block may be
	 * reused. */
	void (*reap)(struct engine_thread *thread);
	/* Child side of the target's own fork(): only `self` is left. */
	void (*after_fork)(struct engine_thread *self);
};

#endif
