/* Environment and schedule of a finding, for the commands that re-execute its program. */
#pragma once

#include "base/error.h"
#include "findings/finding.h"

/* The finding that the user names, in the store in `directory`. */
struct recorded_source {
	const char *id, *directory;
	const char *schedule; /* file with the schedule to follow; NULL: the finding's own */
	bool is_trusted;      /* as in trust_finding() */
};

/* Loads a finding whose program is then re-executed: the user trusts it, its environment is
 * restored, and a note says if its schedule has been edited. */
int recorded_finding_load(
	struct finding *finding, const struct recorded_source *source, struct error *err);
/* Prints the variables that differ, as a possible reason why the failure does not repeat. */
void recorded_environment_compare(const struct finding *finding);
