/* Completion of command lines, for shells, made from the option tables of the commands. */
#ifndef RADDLE_CLI_COMPLETION_H
#define RADDLE_CLI_COMPLETION_H

#include <stdio.h>

/* The script for a shell, "bash" or "zsh". -1: there is none for it. */
int completion_print(const char *shell, FILE *stream);

#endif
