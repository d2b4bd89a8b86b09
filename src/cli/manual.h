/* The manual page raddle(1), made from the commands' own tables so that it cannot disagree with them. */
#ifndef RADDLE_CLI_MANUAL_H
#define RADDLE_CLI_MANUAL_H

#include <stdio.h>

/* As groff source (man macros). */
void manual_print(FILE *stream);

#endif
