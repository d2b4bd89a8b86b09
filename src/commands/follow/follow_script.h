/* Finds the program that a script becomes by exec, such as the program of libtool's wrapper. */
#pragma once

#include "commands/follow/follow.h"

struct follow_script {
	char **argv;	    /* the program with its arguments; ends with NULL */
	char **environment; /* assignments that the script has made; ends with NULL */
};

/* Runs the script until it executes another program, which does not begin. Fails if the script
 * executes none. Release with follow_script_release(). */
int follow_script_find(struct follow_script *script, char *const *argv,
	const volatile int *is_interrupted, struct error *err);
void follow_script_release(struct follow_script *script);

/* Returns whether the process is an interpreter of the script, which may be started by another
 * interpreter (env). */
bool follow_script_is_interpreter(const struct follow_process *process, const char *script);

/* Returns the assignments of the program that differ from this process's environment. Shells change
 * some variables in every program, which are left out. Free the array only. */
char **follow_new_variables(const struct follow_program *program);
