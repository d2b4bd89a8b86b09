/* A finding for a person: what happened, the evidence, the interleaving, and what to type next. */
#ifndef RADDLE_COMMANDS_FINDINGS_SHOW_FINDING_H
#define RADDLE_COMMANDS_FINDINGS_SHOW_FINDING_H

#include <stdio.h>

#include "findings/candidate.h"
#include "findings/finding.h"
#include "report/format.h"

/* `store` as it was given, NULL: it was not. `roots`: for sources of a finding of others, NULL: the working folder. */
void show_finding(const struct finding *finding, const char *store,
	const struct source_roots *roots, FILE *stream);
/* A prediction, behind a label of at most three columns ("P1") that the caller has printed. */
void show_candidate(const struct candidate *candidate, FILE *stream);
/* What is known besides: why the finding fails; predictions and branches. */
void show_explanation(
	const struct report_document *documents, uint32_t count, const char *finding, FILE *stream);
void show_documents(const struct report_document *documents, uint32_t count, FILE *stream);
/* The steps alone, all that the finding has. */
void show_interleaving(const struct finding *finding, bool has_callers, FILE *stream);

#endif
