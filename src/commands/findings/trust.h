/*
 * Decides whether raddle may run the command of a finding. The user must agree if another user made
 * the finding (docs/security.md).
 */
#ifndef RADDLE_COMMANDS_FINDINGS_TRUST_H
#define RADDLE_COMMANDS_FINDINGS_TRUST_H

#include <stdbool.h>

#include "findings/finding.h"

/*
 * Returns 0 if this user made the finding on this machine, if `is_trusted` (--trust), or if the
 * user agrees at the terminal. Otherwise prints the command on standard error and returns a
 * negative code.
 */
int trust_finding(const struct finding *finding, bool is_trusted, struct error *err);

#endif
