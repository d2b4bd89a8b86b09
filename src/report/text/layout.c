#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/visible.h"
#include "report/text/block_names.h"
#include "report/text/layout.h"

#define GAP 2
#define CELLS_MAX 64

unsigned style_columns(const struct report_style *style)
{
	if (!style->columns)
		return 80;
	return style->columns < 40 ? 40 : style->columns;
}

/* Returns whether the byte continues a UTF-8 sequence and so takes no column. */
static bool layout_is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

unsigned text_columns(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += !layout_is_continuation(*text);
	return columns;
}

void add_coloured(
	struct strbuf *out, const struct report_style *style, const char *colour, const char *text)
{
	const bool is_coloured = style->has_colour && *colour;

	if (is_coloured)
		strbuf_addf(out, "\033[%sm", colour);
	visible_add(out, text, strlen(text), false);
	if (is_coloured)
		strbuf_adds(out, "\033[0m");
}

void add_heading(struct strbuf *out, const struct report_style *style, const char *text)
{
	strbuf_adds(out, "\n");
	add_coloured(out, style, COLOUR_HEAD, text);
	strbuf_adds(out, "\n");
}

/* Returns whether a name that is wider than its column may be broken after this byte. */
static bool layout_is_joint(const char *at)
{
	return strchr(",<>(/.:_-", at[0]) && at[1] && at[1] != ':' && at[1] != '>' && at[1] != ')';
}

/* Breaks a text into lines: returns how many bytes of *text fit into one line of `width` columns, and moves *text to the
 * beginning of the next line, behind the blanks between the two. */
static size_t layout_next_piece(const char **text, unsigned width)
{
	const char *const start = *text;
	const char *at = start, *blank = NULL, *joint = NULL;
	size_t length;

	for (unsigned columns = 0; *at && *at != '\n'; at++) {
		if (!layout_is_continuation(*at) && columns++ == width)
			break;
		if (*at == ' ')
			blank = at;
		else if (layout_is_joint(at))
			joint = at + 1;
	}
	if (*at && *at != '\n' && *at != ' ') {
		if (blank && blank > start)
			at = blank;
		else if (joint && joint > start && joint < at)
			at = joint;
	}
	length = (size_t)(at - start);
	while (*at == ' ')
		at++;
	*text = *at == '\n' ? at + 1 : at;
	return length;
}

static void layout_add_blanks(struct strbuf *out, unsigned count)
{
	while (count--)
		strbuf_adds(out, " ");
}

/* Returns the text behind the filter of base/visible.h, with the style's names of heap blocks. The
 * caller frees it. */
static char *layout_visible(const struct report_style *style, const char *text)
{
	STRBUF_SCOPED shortened = STRBUF_EMPTY;

	if (!style->blocks)
		return visible_text(text, true);
	block_names_add_text(style->blocks, text, &shortened);
	return visible_text(shortened.length ? shortened.text : "", true);
}

void add_wrapped(struct strbuf *out, const struct report_style *style, const char *text,
	unsigned at, unsigned indent)
{
	const unsigned columns = style_columns(style);
	unsigned width = columns > at ? columns - at : 1;
	char *visible = layout_visible(style, text);
	const char *rest = visible;

	do {
		const char *piece = rest;
		const size_t length = layout_next_piece(&rest, width);

		strbuf_add(out, piece, length);
		strbuf_adds(out, "\n");
		if (*rest)
			layout_add_blanks(out, indent);
		width = columns - indent;
	} while (*rest);
	free(visible);
}

/* Writes one line of the cells' remaining text. Returns false if nothing was left. */
static bool layout_add_row_line(struct strbuf *out, const struct report_style *style,
	unsigned indent, const struct row_cell *cells, const char **rest, const unsigned *widths,
	unsigned count)
{
	unsigned pending = indent;
	bool has_more = false;

	for (unsigned i = 0; i < count; i++) {
		const char *start = rest[i];
		const size_t length = *start ? layout_next_piece(&rest[i], widths[i]) : 0;
		unsigned used = 0;

		for (size_t byte = 0; byte < length; byte++)
			used += !layout_is_continuation(start[byte]);
		if (length) {
			const bool is_coloured = style->has_colour && *cells[i].colour;

			layout_add_blanks(out, pending);
			pending = 0;
			if (is_coloured)
				strbuf_addf(out, "\033[%sm", cells[i].colour);
			strbuf_add(out, start, length);
			if (is_coloured)
				strbuf_adds(out, "\033[0m");
		}
		pending += widths[i] - used + GAP;
		has_more |= *rest[i] != '\0';
	}
	strbuf_adds(out, "\n");
	return has_more;
}

void add_row(struct strbuf *out, const struct report_style *style, unsigned indent,
	const struct row_cell *cells, const unsigned *widths, unsigned count)
{
	const char *rest[CELLS_MAX];
	char *visible[CELLS_MAX];

	BUG_ON(count > CELLS_MAX);
	for (unsigned i = 0; i < count; i++)
		rest[i] = visible[i] = layout_visible(style, cells[i].text ? cells[i].text : "");
	while (layout_add_row_line(out, style, indent, cells, rest, widths, count))
		;
	for (unsigned i = 0; i < count; i++)
		free(visible[i]);
}
