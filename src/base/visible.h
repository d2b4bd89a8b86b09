/*
 * The filter for text that others wrote: programs, paths, command lines, names of threads, stores. A terminal obeys
 * control characters, and a reader is misled by bidirectional overrides; the filter writes both as escapes that can be
 * seen, such as \u001b and \u202e. Bytes that are no UTF-8 become \xff. In a JSON string the first form means the same
 * character.
 */
#ifndef RADDLE_BASE_VISIBLE_H
#define RADDLE_BASE_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* Bytes of the longest escape with its NUL. */
#define VISIBLE_BYTES 8

/*
 * Writes the first character of the `left` bytes at `at` into `out`, as it is or as an escape, with a NUL. Line feeds and
 * tabulators stay where `has_lines` is set. Returns how many bytes were read; 0: the bytes end inside a character.
 */
size_t visible_character(const char *at, size_t left, bool has_lines, char out[VISIBLE_BYTES]);

/* Appends the text; a character that its end cuts off is treated as bytes that are no UTF-8. */
void visible_add(struct strbuf *out, const char *text, size_t length, bool has_lines);

/* The text as a string of its own, which the caller frees. NULL stays NULL. */
char *visible_text(const char *text, bool has_lines);

/* Is the text the same behind the filter? */
bool is_visible(const char *text, bool has_lines);

#endif
