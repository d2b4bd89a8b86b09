/*
 * The environment variables of a finding. A replay restores those that libraries are known to read,
 * and reports the others that differ. The store has only hashes of these others, under the user's
 * key (store_seal.h), because values may be secrets.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"

/* Returns this process's variables as JSON: {"TZ": "UTC", "EDITOR": {"hash": "..."}}; the caller
 * frees the text. */
char *surroundings_take(void);
/* Restores the known variables of `json` (NULL: none), and appends the names of those that changed,
 * separated by ", ". */
void surroundings_restore(const char *json, struct strbuf *changed);
/* Lists the variables that surroundings_restore() would set, as "NAME='value' NAME='value'". */
void surroundings_list(const char *json, struct strbuf *out);
/* Appends the names of differing variables, separated by ", ". Compares hashes only if `is_own`,
 * with the user's key. */
void surroundings_compare(const char *json, bool is_own, struct strbuf *different);
