/*
 * The environment variables that a finding was found with: a replay takes back those that libraries are known to
 * look at, and of the others says which differ. Values of others are not kept, only their hashes under the user's key
 * (store_seal.h): there may be secrets among them, and an attacker without the key cannot guess a short one.
 */
#ifndef RADDLE_STORE_SURROUNDINGS_H
#define RADDLE_STORE_SURROUNDINGS_H

#include <stdbool.h>

#include "base/strbuf.h"

/* Of this process, as a JSON object {"TZ": "UTC", "EDITOR": {"hash": "..."}}; to be freed. */
char *surroundings_take(void);
/*
 * Gives this process the known ones of `json` back, and takes away those that were not there. Their names go to
 * `changed`, with ", " between them. Of NULL, and of what is no such object, nothing is taken.
 */
void surroundings_restore(const char *json, struct strbuf *changed);
/*
 * Lists the variables that surroundings_restore() would set, as "NAME='value' NAME='value'".
 * Changes no variable.
 */
void surroundings_list(const char *json, struct strbuf *out);
/*
 * Names of all variables that differ, likewise. Hashes under another user's key, or without a key, tell nothing: such
 * variables are left out where `is_own` is not set, or where no key can be read.
 */
void surroundings_compare(const char *json, bool is_own, struct strbuf *different);

#endif
