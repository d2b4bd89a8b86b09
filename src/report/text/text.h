/* Text report: what went wrong, wait-for graph, stacks, interleaving, replay command. */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "findings/describe/candidate.h"
#include "findings/finding.h"
#include "findings/source_lines.h"

/* Default number of displayed steps: a table of one screen. */
#define REPORT_STEPS_STANDARD 40

struct block_names;

struct report_style {
	unsigned columns;	/* columns of the terminal, limit the line length; 0: 80 */
	bool has_colour;	/* ANSI escapes */
	bool has_system_frames; /* show library frames, too */
	bool has_callers; /* show the callers of each step and every access inside of libraries */
	/* text behind commands that read the store: " --store DIR"; NULL if none */
	const char *store_option;
	/* allowed source folders for findings of others; NULL means the working folder */
	const struct source_roots *source_roots;
	unsigned steps_most; /* the middle of longer interleavings is omitted; 0: no limit */
	/* Collects short names of heap blocks (report/text/block_names.h); NULL: texts keep full names. */
	struct block_names *blocks;
};

/* Appends the whole report. All control characters of the target are filtered. */
void report_finding(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);

/* Appends the section "what led to it", with a final newline; empty if no cause is known. */
void report_cause(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);
/* Appends the table of steps. Without `blocks` in the style a legend of short names follows. */
void report_interleaving(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);
/* Appends a candidate: the title, wrapped after four columns written by the caller, and a table. */
void report_candidate(
	const struct candidate *candidate, const struct report_style *style, struct strbuf *out);
