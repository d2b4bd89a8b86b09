/* What a program prints when it runs natively. */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* Runs the program with these assignments (NULL: none), and appends what it writes to descriptors 1
 * and 2. Kills processes that it leaves behind. An exit status other than 127 is no error: Catch2
 * returns the number of cases. */
int test_output_of_program(
	char *const *argv, char *const *environment, struct strbuf *out, struct error *err);
