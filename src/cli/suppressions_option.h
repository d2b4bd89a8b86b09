/* `--suppressions FILE` and TSAN_OPTIONS: races that are suppressed. */
#ifndef RADDLE_CLI_SUPPRESSIONS_OPTION_H
#define RADDLE_CLI_SUPPRESSIONS_OPTION_H

#include "base/error.h"
#include "findings/suppressions.h"

/*
 * Reads the file `path`; if NULL, the file of `suppressions=` in the environment variable
 * TSAN_OPTIONS. Empty if neither is set.
 */
int suppressions_option_read(const char *path, struct suppressions *out, struct error *err);

/*
 * The value of suppressions= in a list such as "halt_on_error=1:suppressions=a.txt". NULL: absent.
 * The caller frees it.
 */
char *suppressions_option_find(const char *list);

#endif
