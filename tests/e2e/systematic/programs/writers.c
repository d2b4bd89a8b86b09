/* n writers of one variable: n! traces. */
#include "scaling.h"

static long shared;

static void *body(void *number)
{
	shared = (long)number;
	return NULL;
}

int main(int argc, char **argv)
{
	run_threads(thread_count(argc, argv), body);
	return shared == -1;
}
