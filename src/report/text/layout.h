/* Lays out text in columns: wraps words, filters them by base/visible.h, adds colours. */
#pragma once

#include "report/text/text.h"

#define COLOUR_NONE ""
#define COLOUR_HEAD "1"
#define COLOUR_ALARM "1;31"
#define COLOUR_FAINT "2"

/* Returns the caller's width, 80 if none; at least 40, below which no table is readable. */
unsigned style_columns(const struct report_style *style);

/* Returns the number of columns of a text: a UTF-8 sequence counts as one. */
unsigned text_columns(const char *text);

/* Appends the text behind the filter of base/visible.h, between the escapes of a colour. */
void add_coloured(
	struct strbuf *out, const struct report_style *style, const char *colour, const char *text);

void add_heading(struct strbuf *out, const struct report_style *style, const char *text);

/* Adds a paragraph: its first line continues at column `at`, the next ones start at `indent`. */
void add_wrapped(struct strbuf *out, const struct report_style *style, const char *text,
	unsigned at, unsigned indent);

/* A cell of a table row. The row wraps its cells; `widths`: column widths without the gap of 2. */
struct row_cell {
	const char *text; /* NULL if empty */
	const char *colour;
};
void add_row(struct strbuf *out, const struct report_style *style, unsigned indent,
	const struct row_cell *cells, const unsigned *widths, unsigned count);
