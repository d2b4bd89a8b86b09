/*
 * Standard output and standard error of raddle. Both are streams of raddle's own behind one filter
 * (base/visible.h), which every printf passes. Control sequences pass only through the two
 * functions below. Output of a program under test, forwarded by replay, does not use these streams.
 */
#pragma once

#include <stdio.h>

/* Replaces stdout and stderr. Must be called first in main(). */
void output_install(void);

/* Returns the file descriptor below a stream. */
int output_descriptor(FILE *stream);

/* Writes text of report/, which has filtered all names in it: colour sequences stay. */
void output_write_coloured(FILE *stream, const char *text, size_t length);

/* Writes a control sequence of raddle's own, which contains no foreign text. */
void output_write_control(FILE *stream, const char *sequence);
