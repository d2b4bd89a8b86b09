/*
 * The restart: how the target returns to its starting point for the next run. The four restarts, from the fastest to
 * the most faithful: rewind, fork_create, fork_main, exec.
 */
#ifndef RADDLE_RUNTIME_RESTART_H
#define RADDLE_RUNTIME_RESTART_H

#include <stdbool.h>

struct restart {
	const char *name;
	/*
	 * Called just before the target's main. A server of runs returns from it once per run, in the process of
	 * that run.
	 */
	void (*at_main)(void);
	/* Called at the first thread creation. Returns once per run, after runtime_begin_run(). */
	void (*at_first_create)(void);
	/*
	 * Called when the run is over and its outcome stored. `status`: the exit status that the process would have.
	 */
	void (*finish)(int status) __attribute__((noreturn));
};

extern const struct restart restart_rewind;
extern const struct restart restart_fork_create;
extern const struct restart restart_fork_main;
extern const struct restart restart_exec;

#endif
