/*
 * A finding for people: what went wrong, who holds and waits for what, where each thread stands,
 * the interleaving as a table with one column per thread, and the command that shows it again.
 */
#ifndef RADDLE_REPORT_TEXT_H
#define RADDLE_REPORT_TEXT_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "findings/candidate.h"
#include "findings/finding.h"
#include "findings/source_lines.h"

/* Steps that are shown unless asked otherwise: a table of one screen. */
#define REPORT_STEPS_STANDARD 40

struct report_style {
	unsigned columns;	/* of the terminal; lines are no longer. 0: 80 */
	bool has_colour;	/* ANSI escapes */
	bool has_system_frames; /* show frames of libraries, too */
	bool has_callers; /* show the callers of each step and every access inside of libraries */
	const char
		*store_option; /* behind commands that read the store: " --store DIR"; NULL: none */
	const struct source_roots
		*source_roots; /* for findings of others; NULL: the working folder */
	unsigned steps_most;   /* longer interleavings lose their middle; 0: all are shown */
};

/* Appends the whole report. Control characters from the target never get through. */
void report_finding(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);

/* Parts of it, each ending with a newline; nothing is written where there is nothing to say. */
void report_title(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);
/* Adds the finding's cause and remedy. */
void report_cause(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);
void report_waits(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);
void report_stacks(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);
void report_interleaving(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);
/* What was predicted: the title, wrapped behind four columns of the caller's, and a table. */
void report_candidate(
	const struct candidate *candidate, const struct report_style *style, struct strbuf *out);
/* How it was found, how short it became, whether it repeats, and how to replay it. */
void report_facts(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);

#endif
