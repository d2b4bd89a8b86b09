/*
 * The user must agree before raddle runs the command of another user's finding (docs/security.md).
 */
#ifndef RADDLE_COMMANDS_FINDINGS_TRUST_H
#define RADDLE_COMMANDS_FINDINGS_TRUST_H

#include <stdbool.h>

#include "findings/finding.h"

/*
 * Returns 0 for a finding of this user on this machine, if `is_trusted`, or if the user agrees.
 * Otherwise prints the command.
 */
int trust_finding(const struct finding *finding, bool is_trusted, struct error *err);

#endif
