/* Command-line completion for shells, made from the option tables of the commands. */
#ifndef RADDLE_CLI_COMPLETION_H
#define RADDLE_CLI_COMPLETION_H

#include <stdio.h>

/* Prints the script for a shell, "bash" or "zsh". -1: unknown shell. */
int completion_print(const char *shell, FILE *stream);

#endif
