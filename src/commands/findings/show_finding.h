#pragma once

#include <stdio.h>

#include "findings/describe/candidate.h"
#include "findings/finding.h"
#include "report/format.h"

/* Prints a finding. `store`: as given, or NULL. `roots`: source folders for a foreign finding;
 * NULL: working folder. */
void show_finding(const struct finding *finding, const char *store,
	const struct source_roots *roots, FILE *stream);
/* Prints a prediction. The caller has printed a label of at most three columns ("P1"). */
void show_candidate(const struct candidate *candidate, FILE *stream);
/* Print further documents about the finding: its explanation; predictions and branches. */
void show_explanation(
	const struct store_document *documents, uint32_t count, const char *finding, FILE *stream);
void show_documents(const struct store_document *documents, uint32_t count, FILE *stream);
void show_interleaving(const struct finding *finding, bool has_callers, FILE *stream);
