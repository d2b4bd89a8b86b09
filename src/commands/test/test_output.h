/* The text of a file, and what a program prints when it runs natively. */
#pragma once

#include "base/error.h"

/* Reads the file behind the descriptor, and closes it. The caller frees the text. */
int test_output_of_file(int file, char **text, struct error *err);
/* Runs the program with these assignments (NULL: none), and reads its descriptors 1 and 2. An exit
 * status other than 127 is no error: Catch2 returns the number of cases. The caller frees the
 * text. */
int test_output_of_program(
	char *const *argv, char *const *environment, char **text, struct error *err);
