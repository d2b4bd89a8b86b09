/* The manual pages, made from the commands' own tables so that they cannot disagree with them. */
#ifndef RADDLE_CLI_MANUAL_H
#define RADDLE_CLI_MANUAL_H

#include <stdio.h>

struct command;

/* As groff source (man macros): raddle(1), and the page of one command. */
void manual_print(FILE *stream);
void manual_print_command(FILE *stream, const struct command *command);

/* Command lines to begin with, one a line; empty: there are none. */
const char *manual_examples(const char *command);

#endif
