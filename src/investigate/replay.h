/* Replays a finding's schedule in a fresh process, or under gdb. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "findings/finding.h"
#include "model/memory_model.h"
#include "model/outcome/outcome.h"

struct replay_options {
	const char *runtime; /* libraddle.so */
	bool is_traced;	     /* fill result->traced with the whole interleaving */
	bool is_quiet;	     /* do not forward the program's output */
	const volatile int *is_interrupted;
};

struct replay_result {
	bool is_failure;	/* the run failed */
	bool is_same;		/* the outcome has the kind and code of the finding */
	bool has_diverged;	/* the program no longer follows the schedule */
	uint64_t diverged_step; /* step of the divergence, as far as the runtime knows */
	struct outcome outcome;
	enum memory_model memory_model; /* of the finding and of the run */
	struct finding traced; /* is_traced: the run as a finding; released with finding_release */
};

/* Changes the working folder to that of the finding. */
int replay_finding(const struct finding *finding, const struct replay_options *options,
	struct replay_result *result, struct error *err);

/* Runs gdb on the program, stopping at the failure. Returns its exit status, or an error. */
int replay_under_gdb(
	const struct finding *finding, const struct replay_options *options, struct error *err);
