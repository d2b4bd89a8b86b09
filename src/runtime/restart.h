/*
 * The restart: how the target is brought back to its starting point for the next run. Four of them,
 * from fastest to most faithful: rewind, fork_create, fork_main, exec.
 */
#ifndef RADDLE_RUNTIME_RESTART_H
#define RADDLE_RUNTIME_RESTART_H

#include <stdbool.h>

struct restart {
	const char *name;
	/* Just before the target's main. A server of runs returns in each run. */
	void (*at_main)(void);
	/* At the first thread creation. Returns once per run; runtime_begin_run() has been called. */
	void (*at_first_create)(void);
	/* The run is over and its outcome in place. `status`: what the process would end with. */
	void (*finish)(int status) __attribute__((noreturn));
};

extern const struct restart restart_rewind;
extern const struct restart restart_fork_create;
extern const struct restart restart_fork_main;
extern const struct restart restart_exec;

#endif
