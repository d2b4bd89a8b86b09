/* Shared by the files that write SARIF. */
#pragma once

#include "findings/finding.h"
#include "report/format.h"
#include "report/json_value.h"

/* Takes ownership of `text`. */
json_t *sarif_message(json_t *text);
/* `frame` may be NULL. Takes ownership of `text`, which may be NULL. */
json_t *sarif_location(const struct finding_frame *frame, json_t *text);
/* Returns the index of the rule with this id; adds the rule if it is missing. */
size_t sarif_rule(json_t *rules, const char *id, const char *sentence);

/* ---- sarif_documents.c ---- */

/* Adds the finding's explanation to its message, related locations and properties. */
void sarif_add_explanation(const struct report *report, const char *finding, json_t *result);
/* Adds unconfirmed predictions, and branches that are no findings, as notes. */
void sarif_add_documents(const struct report *report, json_t *rules, json_t *results);
