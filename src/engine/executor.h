/* The executor carries the engine's threads on the machine. Three executors exist: fibers on one
 * kernel thread, kernel threads that pass a baton, and plain coroutines for tests. Exactly one
 * thread moves at any moment; `transfer` passes this right to another thread. */
#ifndef RADDLE_ENGINE_EXECUTOR_H
#define RADDLE_ENGINE_EXECUTOR_H

#include <stdbool.h>

struct engine_thread;

struct executor {
	const char *name; /* "fiber", "kernel" */
	bool can_clone;	  /* a raw fork copies all threads */
	bool can_rewind;  /* a memory image restores all threads */
	/* Creates a parked context that will call engine_thread_main(thread). Returns 0 or a
	 * positive errno. */
	int (*spawn)(struct engine_thread *thread, const void *attributes);
	/* Parks `from` and resumes `to`; returns when `from` is resumed. */
	void (*transfer)(struct engine_thread *from, struct engine_thread *to);
	/* `from` has ended: resumes `to`. The call does not return on a fiber; on a kernel thread
	 * it returns, and the thread exits. */
	void (*finish)(struct engine_thread *from, struct engine_thread *to);
	/* The thread has ended and is joined or detached: its stack and thread-local block may be
	 * reused. */
	void (*reap)(struct engine_thread *thread);
	/* Child side of the target's own fork(): only `self` exists. */
	void (*after_fork)(struct engine_thread *self);
};

#endif
