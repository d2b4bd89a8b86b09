/*
 * The user's own judge, `--check CMD`.
 *
 * /bin/sh runs CMD after each run that ended by itself (passed or exit). The run's output is CMD's
 * standard input. CMD's environment has RADDLE_OUTCOME (a word such as "passed") and RADDLE_STATUS
 * (the exit status). CMD's exit status decides: 0: the run was good, regardless of its own status;
 * else it failed. CMD's output is discarded.
 */
#pragma once

#include "base/error.h"
#include "model/outcome/outcome.h"

struct judge {
	const char *command; /* NULL if there is no judge */
	char **environment;  /* environment with room for the two variables at its end */
	unsigned variables;  /* number of entries before the two variables */
	int output;	     /* descriptor of /dev/null */
};

/* `command` NULL: there is no judge, and judge_run() changes no outcome. Close with
 * judge_close(). */
int judge_open(struct judge *judge, const char *command, struct error *err);
void judge_close(struct judge *judge);

/* Judges a run by its output `printed`: sets PASSED or CHECK_FAILED. Returns a negative error if
 * the judge cannot run. */
int judge_run(const struct judge *judge, int printed, struct outcome *outcome, struct error *err);
