/* What the files that write SARIF share. */
#ifndef RADDLE_REPORT_SARIF_INTERNAL_H
#define RADDLE_REPORT_SARIF_INTERNAL_H

#include "findings/finding.h"
#include "report/format.h"
#include "report/json_value.h"

/* Takes over `text`. */
json_t *sarif_message(json_t *text);
/* `frame` may be NULL; takes over `text`, which may be NULL. */
json_t *sarif_location(const struct finding_frame *frame, json_t *text);
/* Number of the rule with this id, which is added where there is none. */
size_t sarif_rule(json_t *rules, const char *id, const char *sentence);

/* ---- sarif_documents.c ---- */

/* What explains the finding: added to its message, its related places and its properties. */
void sarif_add_explanation(const struct report *report, const char *finding, json_t *result);
/* Predictions that did not become findings, and branches likewise: notes. */
void sarif_add_documents(const struct report *report, json_t *rules, json_t *results);

#endif
