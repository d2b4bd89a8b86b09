/*
 * The restart: how the target returns to its starting point for the next run. The four restarts,
 * from the fastest to the most faithful:
 *   rewind       restores a memory image of the first thread creation, or a checkpoint
 *   fork_create  a server process at the first thread creation forks once per run
 *   fork_main    a server process just before main forks once per run
 *   exec         every run is a fresh process
 *
 * Each restart calls runtime_begin_run() at the first thread creation of a run. The run ends in
 * finish(), which never returns. The process that outlives the run (the server, or under exec the
 * run itself) calls runtime_account_run(). A restart that cannot revert a run's effects reports
 * REPORT_TAINTED, and the command changes to the next one.
 */
#pragma once

struct restart {
	const char *name;
	/* Called just before main. A server of runs returns once per run, in that run's process. */
	void (*at_main)(void);
	/* Called at the first thread creation. Returns once per run, after runtime_begin_run(). */
	void (*at_first_create)(void);
	/* Called when the outcome is stored. `status`: what the process would exit with. */
	void (*finish)(int status) __attribute__((noreturn));
};

extern const struct restart restart_rewind;
extern const struct restart restart_fork_create;
extern const struct restart restart_fork_main;
extern const struct restart restart_exec;
