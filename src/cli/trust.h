/* Whether the command of a finding may be run: asked where somebody else made the finding (docs/security.md). */
#ifndef RADDLE_CLI_TRUST_H
#define RADDLE_CLI_TRUST_H

#include <stdbool.h>

#include "findings/finding.h"

/*
 * 0 where this user made the finding on this machine, or `is_trusted` (--trust), or the user agrees at the terminal. Else
 * a negative code; the command stands on standard error then.
 */
int trust_finding(const struct finding *finding, bool is_trusted, struct error *err);

#endif
