#include <string.h>

#include "base/bug.h"
#include "report/layout_internal.h"

#define GAP 2
#define CELLS_MAX 64

unsigned style_columns(const struct report_style *style)
{
	if (!style->columns)
		return 80;
	return style->columns < 40 ? 40 : style->columns;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Bytes that continue a UTF-8 sequence take no column of their own. */
static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

unsigned text_columns(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += !is_continuation(*text);
	return columns;
}

void add_clean(struct strbuf *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		const unsigned char byte = (unsigned char)text[i];

		strbuf_add(out, byte < ' ' || byte == 0x7f ? "?" : text + i, 1);
	}
}

void add_coloured(
	struct strbuf *out, const struct report_style *style, const char *colour, const char *text)
{
	const bool is_coloured = style->has_colour && *colour;

	if (is_coloured)
		strbuf_addf(out, "\033[%sm", colour);
	add_clean(out, text, strlen(text));
	if (is_coloured)
		strbuf_adds(out, "\033[0m");
}

void add_heading(struct strbuf *out, const struct report_style *style, const char *text)
{
	strbuf_adds(out, "\n");
	add_coloured(out, style, COLOUR_HEAD, text);
	strbuf_adds(out, "\n");
}

/* May a line break follow this byte in a name that is wider than its column? */
static bool is_joint(const char *at)
{
	return strchr(",<>(/.:_-", at[0]) && at[1] && at[1] != ':' && at[1] != '>' && at[1] != ')';
}

size_t next_piece(const char **text, unsigned width)
{
	const char *const start = *text;
	const char *at = start, *blank = NULL, *joint = NULL;
	size_t length;

	for (unsigned columns = 0; *at && *at != '\n'; at++) {
		if (!is_continuation(*at) && columns++ == width)
			break;
		if (*at == ' ')
			blank = at;
		else if (is_joint(at))
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

static void add_blanks(struct strbuf *out, unsigned count)
{
	while (count--)
		strbuf_adds(out, " ");
}

void add_wrapped(struct strbuf *out, const struct report_style *style, const char *text,
	unsigned at, unsigned indent)
{
	const unsigned columns = style_columns(style);
	unsigned width = columns > at ? columns - at : 1;

	do {
		const char *piece = text;
		const size_t length = next_piece(&text, width);

		add_clean(out, piece, length);
		strbuf_adds(out, "\n");
		if (*text)
			add_blanks(out, indent);
		width = columns - indent;
	} while (*text);
}

/* The part of a row that the cells still have to say; one line of it is written. */
static bool add_row_line(struct strbuf *out, const struct report_style *style, unsigned indent,
	const struct row_cell *cells, const char **rest, const unsigned *widths, unsigned count)
{
	unsigned pending = indent;
	bool has_more = false;

	for (unsigned i = 0; i < count; i++) {
		const char *start = rest[i];
		const size_t length = *start ? next_piece(&rest[i], widths[i]) : 0;
		unsigned used = 0;

		for (size_t byte = 0; byte < length; byte++)
			used += !is_continuation(start[byte]);
		if (length) {
			const bool is_coloured = style->has_colour && *cells[i].colour;

			add_blanks(out, pending);
			pending = 0;
			if (is_coloured)
				strbuf_addf(out, "\033[%sm", cells[i].colour);
			add_clean(out, start, length);
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

	BUG_ON(count > CELLS_MAX);
	for (unsigned i = 0; i < count; i++)
		rest[i] = cells[i].text ? cells[i].text : "";
	while (add_row_line(out, style, indent, cells, rest, widths, count))
		;
}
