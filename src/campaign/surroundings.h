/*
 * The environment variables that a finding was found with: a replay takes back those that libraries are known to
 * look at, and of the others says which differ. Values of others are not kept, only their hashes: there may be
 * secrets among them.
 */
#ifndef RADDLE_CAMPAIGN_SURROUNDINGS_H
#define RADDLE_CAMPAIGN_SURROUNDINGS_H

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
/* Names of all variables that differ, likewise. */
void surroundings_compare(const char *json, struct strbuf *different);

#endif
