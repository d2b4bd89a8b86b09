#include "cli/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/strbuf.h"

/* What mail, logs and reviews show without wrapping. */
#define COLUMNS_ELSEWHERE 100

bool terminal_has_color(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR");
	const char *kind = getenv("TERM");

	if ((no_color && *no_color) || (kind && strcmp(kind, "dumb") == 0))
		return false;
	return isatty(fileno(stream));
}

unsigned terminal_columns(FILE *stream)
{
	struct winsize size;

	if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return COLUMNS_ELSEWHERE;
	return size.ws_col;
}

void terminal_live(const char *format, ...)
{
	struct strbuf line;
	va_list args;

	if (!isatty(STDERR_FILENO))
		return;
	strbuf_init(&line);
	va_start(args, format);
	strbuf_vaddf(&line, format, args);
	va_end(args);
	/* A line that wraps could not be written over. */
	(void)fprintf(stderr, "\r%.*s\033[K", (int)terminal_columns(stderr) - 1, line.text);
	(void)fflush(stderr); /* a terminal: nothing to be done about it */
	strbuf_release(&line);
}

void terminal_clear_live(void)
{
	if (isatty(STDERR_FILENO))
		(void)fputs("\r\033[K", stderr);
}

const char *terminal_number(unsigned long long value, char *buffer)
{
	char digits[32];
	int length = snprintf(digits, sizeof digits, "%llu", value);
	char *to = buffer;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buffer;
}
