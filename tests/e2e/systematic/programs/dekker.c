/* Two threads enter n sections each behind Dekker's lock. Its outer loop reads two locations, and its inner loop
 * stands behind a store. */
#include <stdatomic.h>

#include "scaling.h"

static atomic_int wants[2], turn;
static int counter, sections;

static void *body(void *number)
{
	const int self = (int)(long)number, other = 1 - self;

	for (int i = 0; i < sections; i++) {
		atomic_store(&wants[self], 1);
		while (atomic_load(&wants[other])) {
			if (atomic_load(&turn) == self)
				continue;
			atomic_store(&wants[self], 0);
			while (atomic_load(&turn) != self)
				;
			atomic_store(&wants[self], 1);
		}
		counter++;
		atomic_store(&turn, other);
		atomic_store(&wants[self], 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	sections = thread_count(argc, argv);
	atomic_store(&turn, 0); /* LLVM 14 makes a variable local if one function alone uses it */
	run_threads(2, body);
	return counter != 2 * sections;
}
