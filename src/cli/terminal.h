/*
 * What a person at a terminal sees and a file does not: colour, and one line that is written over
 * again and again. Colour is off where NO_COLOR is set or the stream is no terminal.
 */
#ifndef RADDLE_CLI_TERMINAL_H
#define RADDLE_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

bool terminal_has_color(FILE *stream);
/* Width for text that goes there. */
unsigned terminal_columns(FILE *stream);

/* --quiet: from now on neither hints nor live lines. Not to be taken back. */
void terminal_be_quiet(void);
/* A line on standard error that nobody needs who knows raddle, such as the next command to type. */
void terminal_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints lines; those too long for a terminal are broken at blanks and go on a little further in. */
void terminal_put(FILE *stream, const char *text);

/* The live line, on standard error; nothing happens where that is no terminal. */
void terminal_live(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Takes the live line away: before anything else is printed. */
void terminal_clear_live(void);

/* "1,234,567", in a buffer of the caller of at least 32 bytes. */
const char *terminal_number(unsigned long long value, char *buffer);

#endif
