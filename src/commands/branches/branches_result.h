#pragma once

#include "commands/branches/branches.h"

extern const char *const sensitive_kind_words[SENSITIVE_KIND_COUNT];

/* Prints the result. `directory`: the store in suggested commands. `is_quiet`: prints only the
 * branches. */
void branches_print(const struct branches_result *result, const char *directory, bool is_quiet);
/* Returns the JSON document described in docs/branches.md; the caller frees it. */
char *branches_to_json(const struct branches_result *result);
