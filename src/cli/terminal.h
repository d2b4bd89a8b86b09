/* Colour (off by NO_COLOR, or if the stream is no terminal) and a live line on a terminal. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

bool terminal_has_color(FILE *stream);
unsigned terminal_columns(FILE *stream);

/* --quiet: suppresses hints and live lines from now on; cannot be undone. */
void terminal_hide_live(void);
/* Prints a hint for new users on standard error, such as the next command to type. */
void terminal_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints lines; breaks those too long for a terminal at blanks and indents the continuation. */
void terminal_put(FILE *stream, const char *text);

/* Replaces the live line on standard error; no effect if that is no terminal. */
void terminal_live(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Removes the live line. Call before printing anything else. */
void terminal_clear_live(void);
