/* Text into columns: words are wrapped, filtered by base/visible.h, colours optional. */
#ifndef RADDLE_REPORT_LAYOUT_INTERNAL_H
#define RADDLE_REPORT_LAYOUT_INTERNAL_H

#include "report/text.h"

#define COLOUR_NONE ""
#define COLOUR_HEAD "1"
#define COLOUR_ALARM "1;31"
#define COLOUR_FAINT "2"

/* Width the caller gave, 80 when none; never below 40, where no table has a meaning. */
unsigned style_columns(const struct report_style *style);

/* The last part of a path. */
const char *base_name(const char *path);

/* Columns that a text takes: UTF-8 sequences count as one. */
unsigned text_columns(const char *text);

/* Appends the text behind the filter of base/visible.h, between the escapes of a colour. */
void add_coloured(
	struct strbuf *out, const struct report_style *style, const char *colour, const char *text);

/* A heading line of a section. */
void add_heading(struct strbuf *out, const struct report_style *style, const char *text);

/*
 * The next piece of *text that fits into `width` columns, broken at blanks where there are any.
 * Returns its bytes and moves *text behind it and the blanks that follow.
 */
size_t next_piece(const char **text, unsigned width);

/* Paragraph: the first line goes on at column `at`, the next ones start at `indent`. */
void add_wrapped(struct strbuf *out, const struct report_style *style, const char *text,
	unsigned at, unsigned indent);

/* One row of a table: cells are wrapped into their columns. `widths` without the gap of 2. */
struct row_cell {
	const char *text; /* NULL: empty */
	const char *colour;
};
void add_row(struct strbuf *out, const struct report_style *style, unsigned indent,
	const struct row_cell *cells, const unsigned *widths, unsigned count);

#endif
