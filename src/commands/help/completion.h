/* Command-line completion for shells, made from the option tables of the commands. */
#pragma once

#include <stdio.h>

/* Prints the script for a shell, "bash" or "zsh". -1: unknown shell. */
int completion_print(const char *shell, FILE *stream);
