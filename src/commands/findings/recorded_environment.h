/* Environment and schedule of a finding, for the commands that re-execute its program. */
#pragma once

#include "base/error.h"
#include "findings/finding.h"

struct store;

/* Restores the environment variables that libraries read, and prints which ones change. */
void recorded_environment_restore(const struct finding *finding);
/* Prints the variables that differ, as a possible reason why the failure does not repeat. */
void recorded_environment_compare(const struct finding *finding);
/* Loads the schedule of the finding's folder, with a note if the user has edited it. */
int stored_schedule_read(struct store *store, struct finding *finding, struct error *err);
