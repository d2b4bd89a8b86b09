/*
 * The environment variables of a finding. A replay restores those that libraries are known to read,
 * and reports the others that differ. The store has only hashes of these others, under the user's
 * key (store_seal.h), because values may be secrets.
 */
#ifndef RADDLE_STORE_SURROUNDINGS_H
#define RADDLE_STORE_SURROUNDINGS_H

#include <stdbool.h>

#include "base/strbuf.h"

/* This process's variables: {"TZ": "UTC", "EDITOR": {"hash": "..."}}; the caller frees it. */
char *surroundings_take(void);
/* Restores the known variables of `json` (NULL: none) and adds those that changed, by ", ". */
void surroundings_restore(const char *json, struct strbuf *changed);
/* Lists the variables that surroundings_restore() would set, as "NAME='value' NAME='value'". */
void surroundings_list(const char *json, struct strbuf *out);
/* Adds differing variables, separated by ", "; hashes only if `is_own` and with the key. */
void surroundings_compare(const char *json, bool is_own, struct strbuf *different);

#endif
