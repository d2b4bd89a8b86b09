#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	va_start(args, format);
	(void)vsnprintf(
		err->text, sizeof err->text, format, args); /* truncation is harmless here */
	va_end(args);
	/*
	 * The text may quote file names and command lines, whose control characters a terminal
	 * would obey.
	 */
	for (char *at = err->text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return code;
}
