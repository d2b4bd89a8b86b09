/* `--suppressions FILE`, or what TSAN_OPTIONS says: which races are not told of. */
#ifndef RADDLE_CLI_SUPPRESSIONS_OPTION_H
#define RADDLE_CLI_SUPPRESSIONS_OPTION_H

#include "base/error.h"
#include "findings/suppressions.h"

/*
 * Reads the file, or with `path` NULL the one of `suppressions=` in the environment variable
 * TSAN_OPTIONS; nothing where there is neither.
 */
int suppressions_option_read(const char *path, struct suppressions *out, struct error *err);

/* The value of an option in a list such as "halt_on_error=1:suppressions=a.txt". NULL: not there. To be freed. */
char *suppressions_option_find(const char *list);

#endif
