/*
 * The environment variables of a finding. A replay restores those that libraries are known to read,
 * and reports which of the others differ. Of the others the store has only hashes under the user's
 * key (store_seal.h). Values may be secrets, and without the key a short secret cannot be guessed
 * from its hash.
 */
#ifndef RADDLE_STORE_SURROUNDINGS_H
#define RADDLE_STORE_SURROUNDINGS_H

#include <stdbool.h>

#include "base/strbuf.h"

/*
 * The variables of this process as a JSON object {"TZ": "UTC", "EDITOR": {"hash": "..."}}; the
 * caller frees it.
 */
char *surroundings_take(void);
/*
 * Sets the known variables of `json` in this process and removes those that it lacks. Adds their
 * names to `changed`, separated by ", ". Does nothing if `json` is NULL or no such object.
 */
void surroundings_restore(const char *json, struct strbuf *changed);
/*
 * Lists the variables that surroundings_restore() would set, as "NAME='value' NAME='value'".
 * Changes no variable.
 */
void surroundings_list(const char *json, struct strbuf *out);
/*
 * Adds the names of all variables that differ, separated by ", ". Hashes under another key cannot
 * be compared: hashed variables are omitted unless `is_own` is set and the key can be read.
 */
void surroundings_compare(const char *json, bool is_own, struct strbuf *different);

#endif
