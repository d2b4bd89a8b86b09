/*
 * Running the schedule of a finding again: exactly, in a fresh process, with what the program
 * prints passed on. Also under a debugger, which then starts the target itself.
 */
#ifndef RADDLE_INVESTIGATE_REPLAY_H
#define RADDLE_INVESTIGATE_REPLAY_H

#include <stdbool.h>

#include "base/error.h"
#include "findings/finding.h"
#include "model/outcome.h"

struct replay_options {
	const char *runtime; /* libraddle.so */
	bool is_traced;	     /* fill result->traced with the whole interleaving */
	bool is_quiet;	     /* do not pass on what the program prints */
	const volatile int *is_interrupted;
};

struct replay_result {
	bool is_failure;	/* the run failed */
	bool is_same;		/* ... with the same kind and code as the finding */
	bool has_diverged;	/* the schedule does not fit the program any more */
	uint64_t diverged_step; /* where, as far as the runtime can say */
	struct outcome outcome;
	struct finding traced; /* is_traced: the run in words; released with finding_release */
};

/* The working folder becomes the finding's. */
int replay_finding(const struct finding *finding, const struct replay_options *options,
	struct replay_result *result, struct error *err);

/*
 * Runs gdb on the finding's program, with a real thread for each thread, under the finding's
 * schedule; it stops where the run fails. Returns gdb's exit status, or a negative error code.
 */
int replay_under_gdb(
	const struct finding *finding, const struct replay_options *options, struct error *err);

#endif
