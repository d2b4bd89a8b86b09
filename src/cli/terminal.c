#include "cli/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cli/output.h"

/* Line width for output that is no terminal: mail, logs and reviews show it without wrapping. */
#define COLUMNS_ELSEWHERE 100

/* Set while options are parsed. */
static bool is_quiet;

void terminal_hide_live(void)
{
	is_quiet = true;
}

void terminal_hint(const char *format, ...)
{
	va_list args;

	if (is_quiet)
		return;
	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
}

bool terminal_has_color(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR");
	const char *kind = getenv("TERM");

	if ((no_color && *no_color) || (kind && strcmp(kind, "dumb") == 0))
		return false;
	return isatty(output_descriptor(stream));
}

unsigned terminal_columns(FILE *stream)
{
	struct winsize size;

	if (ioctl(output_descriptor(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return COLUMNS_ELSEWHERE;
	return size.ws_col;
}

/* Returns the number of bytes of a line that fit into the columns; all if there is no blank to
 * break at. */
static size_t terminal_fitting(const char *line, size_t length, unsigned columns)
{
	size_t best = 0;
	unsigned used = 0;

	for (size_t i = 0; i < length; i++) {
		if (line[i] == ' ' && i && line[i - 1] != ' ')
			best = i;
		used += ((unsigned char)line[i] & 0xc0) != 0x80; /* the first byte of a character */
		if (used > columns)
			return best ? best : length;
	}
	return length;
}

static void terminal_put_line(FILE *stream, const char *line, size_t length, unsigned columns)
{
	const size_t indent = strspn(line, " ") < length ? strspn(line, " ") : 0;
	const int further = (int)(indent + 4 < columns / 2 ? indent + 4 : 0);
	size_t first = indent +
		       terminal_fitting(line + indent, length - indent, columns - (unsigned)indent);

	(void)fwrite(line, 1, first, stream);
	while (first < length) {
		line += first;
		length -= first;
		first = strspn(line, " ");
		line += first;
		length -= first;
		first = terminal_fitting(line, length, columns - (unsigned)further);
		(void)fprintf(stream, "\n%*s%.*s", further, "", (int)first, line);
	}
}

static void terminal_put_lines(FILE *stream, const char *text)
{
	const unsigned columns = terminal_columns(stream);

	while (*text) {
		const size_t length = strcspn(text, "\n");

		terminal_put_line(stream, text, length, columns);
		if (text[length])
			(void)fputc('\n', stream);
		text += length + (text[length] != '\0');
	}
}

void terminal_put(FILE *stream, const char *text)
{
	if (isatty(output_descriptor(stream)))
		terminal_put_lines(stream, text);
	else
		(void)fputs(text, stream); /* main checks the stream */
}

void terminal_live(const char *format, ...)
{
	STRBUF_SCOPED line = STRBUF_EMPTY;
	va_list args;

	if (is_quiet || !isatty(STDERR_FILENO))
		return;
	va_start(args, format);
	strbuf_vaddf(&line, format, args);
	va_end(args);
	/* A wrapped line could not be overwritten. */
	output_write_control(stderr, "\r");
	(void)fprintf(stderr, "%.*s", (int)terminal_columns(stderr) - 1, line.text);
	output_write_control(stderr, "\033[K");
}

void terminal_clear_live(void)
{
	if (!is_quiet && isatty(STDERR_FILENO))
		output_write_control(stderr, "\r\033[K");
}
