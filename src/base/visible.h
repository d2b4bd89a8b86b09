/*
 * Makes untrusted text safe to print: output of programs, paths, command lines, thread names,
 * stores. Control characters steer a terminal, and bidirectional overrides mislead a reader. The
 * filter writes both as visible escapes such as \u001b and \u202e; in a JSON string these escapes
 * mean the same character. Bytes that are not valid UTF-8 become \xff.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* Size of the longest escape, including its NUL. */
#define VISIBLE_BYTES 8

/*
 * Writes the first character of the `left` bytes at `at` into `out`, unchanged or as an escape, and
 * a NUL. Line feeds and tabulators stay unchanged if `has_lines` is set. Returns the number of
 * bytes read; 0 means that the input ends inside a character.
 */
size_t visible_character(const char *at, size_t left, bool has_lines, char out[VISIBLE_BYTES]);

/* Appends the filtered text. A character that the end of the text cuts off becomes byte escapes. */
void visible_add(struct strbuf *out, const char *text, size_t length, bool has_lines);

/* Returns the filtered text as a new string, which the caller frees. The result for NULL is NULL. */
char *visible_text(const char *text, bool has_lines);

/* Returns whether the filter would leave the text unchanged. */
bool is_visible(const char *text, bool has_lines);
