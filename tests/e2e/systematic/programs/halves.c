/* n threads write one byte each of an eight-byte word, which another thread reads: 2^n traces. */
#include "scaling.h"

static union {
	unsigned char bytes[8];
	unsigned long whole;
} shared;

static void *body(void *number)
{
	if (!number)
		return (void *)shared.whole;
	shared.bytes[(long)number - 1] = 1;
	return NULL;
}

int main(int argc, char **argv)
{
	run_threads(thread_count(argc, argv) + 1, body);
	return 0;
}
