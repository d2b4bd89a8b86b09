/*
 * The user's own judge, `--check CMD`: says of a run whether it was good. CMD is run by /bin/sh
 * after every run that ended by itself (passed or exit), with what the run printed as its standard
 * input, RADDLE_OUTCOME (a word such as "passed") and RADDLE_STATUS (the exit status) in its
 * environment. Exit status 0: the run was good, whatever its own status; any other: the run failed.
 * What it prints is discarded.
 */
#ifndef RADDLE_WORKER_JUDGE_H
#define RADDLE_WORKER_JUDGE_H

#include <stdbool.h>

#include "base/error.h"
#include "model/outcome.h"

struct judge {
	const char *command; /* NULL: there is none */
	char **environment;  /* with room for the two variables at its end */
	unsigned variables;  /* entries before them */
	int output;	     /* /dev/null */
};

int judge_open(struct judge *judge, const char *command, struct error *err);
void judge_close(struct judge *judge);

/*
 * Judges a run; `printed` is a file with what it printed. Changes the outcome to PASSED or to
 * CHECK_FAILED with the command's exit status as its code.
 */
int judge_run(const struct judge *judge, int printed, struct outcome *outcome, struct error *err);

#endif
