/*
 * Standard output and standard error of raddle. Both are streams of our own with one filter behind them
 * (base/visible.h), so every printf of raddle goes through it. Only raddle's own control sequences pass, and only by the
 * two functions below. Output of a program under test that replay passes on does not go through these streams.
 */
#ifndef RADDLE_CLI_OUTPUT_H
#define RADDLE_CLI_OUTPUT_H

#include <stdio.h>

/* Replaces stdout and stderr. To be called first, in main(). */
void output_install(void);

/* The file descriptor below a stream. */
int output_descriptor(FILE *stream);

/* Writes text of report/, which has filtered all names in it: colours pass. */
void output_write_coloured(FILE *stream, const char *text, size_t length);

/* Writes a control sequence of raddle's own, which holds no text of others. */
void output_write_control(FILE *stream, const char *sequence);

#endif
