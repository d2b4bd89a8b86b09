/* Carries the engine's threads on the machine: fibers on one kernel thread, kernel threads that
 * pass a baton, or coroutines for tests. Exactly one thread moves; `transfer` passes this right. */
#pragma once

#include <stdbool.h>

struct engine_thread;

struct executor {
	const char *name; /* "fiber", "kernel" */
	bool can_clone;	  /* a raw fork copies all threads */
	bool can_rewind;  /* a memory image restores all threads */
	/* Creates a parked context for engine_thread_main(thread). Returns 0 or a positive
	 * errno. */
	int (*spawn)(struct engine_thread *thread, const void *attributes);
	/* Returns when `from` is resumed. */
	void (*transfer)(struct engine_thread *from, struct engine_thread *to);
	/* Ends `from` and moves `to`. Returns only on a kernel thread, which then exits. */
	void (*finish)(struct engine_thread *from, struct engine_thread *to);
	/* Called when the thread is joined or detached: its stack and thread-local block may be
	 * reused. */
	void (*reap)(struct engine_thread *thread);
	/* Called in the child of the target's own fork(), where only `self` exists. */
	void (*after_fork)(struct engine_thread *self);
};
