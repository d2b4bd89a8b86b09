/*
 * Following a program that starts others, such as a test runner: it and all that descends from it run
 * natively, as they would without raddle, and are watched with ptrace. Whoever listens is told of each
 * program that has made threads at the moment when it has ended and its parent does not know it yet:
 * its descriptors are closed, and what the runner prepared for it is still there.
 *
 * Thread context: the command's only thread.
 */
#ifndef RADDLE_COMMANDS_FOLLOW_FOLLOW_H
#define RADDLE_COMMANDS_FOLLOW_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* A program as it was started; several processes are the same one if they forked and did not exec. */
struct follow_program {
	char *path;	    /* the executable file */
	char **argv;	    /* NULL-terminated, argv[0] such that it can be run in `directory` */
	char **environment; /* likewise */
	char *directory;    /* the working folder at that time */
	char *input;	    /* the regular file that was its standard input; NULL: none */
};

struct follow_process {
	pid_t pid;
	const struct follow_program *program;
	bool is_first;	 /* the program that was given */
	bool is_fork;	 /* it runs what its parent ran */
	int wait_status; /* as of waitpid */
};

struct follow_listener {
	void *context;
	/* A process that made threads has ended. It may start and wait for processes of its own. */
	void (*ended)(void *context, const struct follow_process *process);
	/* A program was started; so many were by now, without the first. */
	void (*started)(void *context, uint32_t programs);
	/* A program with the rights of its file's owner ran without them. */
	void (*without_rights)(void *context, const struct follow_program *program);
};

struct follow_result {
	int wait_status;   /* of the program itself */
	uint32_t programs; /* that were started, but for the program itself */
	bool is_interrupted;
};

/*
 * Runs argv[0] (looked for in PATH) with descriptors `output` as 1 and 2, negative: the command's own.
 * What is left when it has ended is killed.
 */
int follow_run(char *const *argv, int output, const struct follow_listener *listener,
	const volatile int *is_interrupted, struct follow_result *result, struct error *err);

#endif
