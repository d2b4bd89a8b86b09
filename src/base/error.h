/*
 * Errors as values: a negative code from errors.def and one line of text for the user. A function
 * returns 0 or a negative code, and writes the text to `struct error` where the cause is known.
 * Only cli/ prints the text. Form: lower case, no full stop, the problem first, the remedy after ";
 * ".
 */
#pragma once

enum error_code {
	ERROR_NONE = 0,
#define ERROR(name, text) ERROR_##name##_,
#include "base/errors.def"
#undef ERROR
};

/* The negative codes that functions return. */
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
 * Fills `err`, which may be NULL, and returns `code`: a caller writes `return error_set(...)`. The
 * function replaces control characters by "?", because quoted names may contain line feeds and
 * terminal escapes.
 */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
