/*
 * Errors as values: a negative code from errors.def plus one line of text for the person.
 * Functions return 0 or a negative code; the text goes to `struct error` where the cause is known.
 * Only cli/ prints it. Form: lower case, no full stop, the problem first, the remedy after "; ".
 */
#ifndef RADDLE_BASE_ERROR_H
#define RADDLE_BASE_ERROR_H

enum error_code {
	ERROR_NONE = 0,
#define ERROR(name, text) ERROR_##name##_,
#include "base/errors.def"
#undef ERROR
};

/* The codes as they are returned: negative. */
enum {
#define ERROR(name, text) ERROR_##name = -ERROR_##name##_,
#include "base/errors.def"
#undef ERROR
};

struct error {
	int code; /* 0 or negative */
	char text[512];
};

/*
 * Fills `err` (which may be NULL) and returns `code`, so that callers write `return error_set(...)`.
 * Control characters become "?", so that the text is one line whatever it quotes.
 */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The general text of a code, never NULL. */
const char *error_text(int code);

#endif
