/*
 * Flanagan, Godefroid, POPL 2005: threads insert four messages each into a hash table by compare-exchange.
 * Messages do not collide up to 11 threads; 12 threads have 8 traces, and each further one 8 times as many.
 */
#include "scaling.h"

#define SIZE 128
#define MESSAGES 4

static _Atomic long table[SIZE];

static void *body(void *number)
{
	for (long m = 1; m <= MESSAGES; m++) {
		const long message = m * 11 + (long)number;
		long h = message * 7 % SIZE;

		for (;;) {
			long expected = 0;

			if (__c11_atomic_compare_exchange_strong(&table[h], &expected, message,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
				break;
			h = (h + 1) % SIZE;
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	run_threads(thread_count(argc, argv), body);
	return 0;
}
