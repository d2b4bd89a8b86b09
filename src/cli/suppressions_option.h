/* `--suppressions FILE` and TSAN_OPTIONS: races that are suppressed. */
#pragma once

#include "base/error.h"
#include "findings/suppressions.h"

/* Reads `path`, or if NULL the file of `suppressions=` in TSAN_OPTIONS. The result is empty if
 * neither is set. */
int suppressions_option_read(const char *path, struct suppressions *out, struct error *err);

/* Returns the value of suppressions= in "halt_on_error=1:suppressions=a.txt"; the caller frees
 * it. */
char *suppressions_option_find(const char *list);
