/* The environment and the schedule of a finding, for the commands that run its program again. */
#ifndef RADDLE_COMMANDS_FINDINGS_GIVEN_BACK_H
#define RADDLE_COMMANDS_FINDINGS_GIVEN_BACK_H

#include "base/error.h"
#include "findings/finding.h"

struct store;

/* Variables that libraries look at become what they were when it was found; it is said which do. */
void give_environment_back(const struct finding *finding);
/* Where the failure does not come again: it may be for one of these. */
void hint_environment(const struct finding *finding);
/*
 * Gives the finding the schedule from its folder. Prints a note if the user has edited that file.
 */
int read_own_schedule(struct store *store, struct finding *finding, struct error *err);

#endif
