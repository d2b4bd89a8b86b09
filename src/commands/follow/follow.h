/*
 * Follows a program that starts others, such as a test runner, natively with ptrace. The listener
 * is called for each ended process that has created threads, before its parent sees the end. The
 * process's descriptors are closed then, and the runner's files for it still exist.
 *
 * Thread context: the command's only thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* A program as it was started. Processes related by fork without exec share one. */
struct follow_program {
	char *path;	    /* the executable file */
	char **argv;	    /* ends with NULL; argv[0] can be run in `directory` */
	char **environment; /* ends with NULL */
	char *directory;    /* the working folder when the program started */
	char *input;	    /* the regular file that was its standard input; NULL if none */
};

struct follow_process {
	pid_t pid;
	const struct follow_program *program;
	bool is_given;	 /* runs the program given by the caller, as first process or as its fork */
	bool is_first;	 /* the first process, which may have executed another program since */
	bool is_fork;	 /* forked without exec: runs the program of its parent */
	bool is_blocked; /* was killed because its threads wait for ever (follow_blocked.h) */
	int wait_status; /* status as returned by waitpid */
};

struct follow_listener {
	void *context;
	/* Each function may be NULL. This one may start and wait for processes of its own. */
	void (*ended)(void *context, const struct follow_process *process);
	/* A process has executed a program, which has not begun. Returns whether to kill all. */
	bool (*executed)(void *context, const struct follow_process *process);
	/* A program was started; `programs`: how many so far, not counting the first. */
	void (*started)(void *context, uint32_t programs);
	/* A process waits for ever, and is killed now. */
	void (*blocked)(void *context, const struct follow_process *process);
	/* A set-user-id or similar program ran without its privileges, because it was traced. */
	void (*without_rights)(void *context, const struct follow_program *program);
};

struct follow_request {
	char *const *argv; /* ends with NULL */
	int input;	   /* descriptor 0 of the program; 0: the command's */
	int output;	   /* its descriptors 1 and 2; negative: the command's */
	uint64_t limit_ns; /* all processes are killed after this time; 0: never */
	struct follow_listener listener;
	const volatile int *is_interrupted;
};

struct follow_result {
	int wait_status;   /* status of the given program */
	uint32_t programs; /* number of programs started, not counting the given one */
	bool is_interrupted;
	bool is_late;	 /* killed after limit_ns */
	bool is_blocked; /* the given program was killed because its threads wait for ever */
};

/* Runs argv[0], and kills the processes that it leaves behind. */
int follow_run(
	const struct follow_request *request, struct follow_result *result, struct error *err);
