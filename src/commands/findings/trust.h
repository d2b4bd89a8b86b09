/*
 * The user must agree before raddle runs the command of another user's finding (docs/security.md).
 */
#pragma once

#include <stdbool.h>

#include "findings/finding.h"

/*
 * Returns 0 for a finding of this user on this machine, if `is_trusted`, or if the user agrees.
 * Otherwise prints the command.
 */
int trust_finding(const struct finding *finding, bool is_trusted, struct error *err);
