/* A bug in the code under test ends the test. */
#include "base/bug.h"

#include <stdio.h>
#include <stdlib.h>

void bug_report(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "%s:%d: bug: %s\n", file, line, condition); /* nothing to do then */
	abort();
}
