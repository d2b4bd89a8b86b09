/* One writer, n readers of one variable: 2^n traces. */
#include "scaling.h"

static long shared;
static void *body(void *number)
{
	if ((long)number)
		return (void *)shared;
	shared = 42;
	return NULL;
}

int main(int argc, char **argv)
{
	run_threads(thread_count(argc, argv) + 1, body);
	return 0;
}
