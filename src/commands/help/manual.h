/* The manual pages, made from the commands' option tables. */
#pragma once

#include <stdio.h>

struct command;

/* Print groff source (man macros): raddle(1), and the page of one command. */
void manual_print(FILE *stream);
void manual_print_command(FILE *stream, const struct command *command);

/* Returns example command lines of the command, one per line; empty: none. */
const char *manual_examples(const char *command);
