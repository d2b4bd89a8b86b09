/* n threads with a spin lock, in two forms of its loop: n! traces, as with a mutex. */
#include <stdatomic.h>

#include "scaling.h"

static atomic_int lock;
static int counter;

static void *body(void *number)
{
	int free = 0;

	if ((long)number % 2)
		while (atomic_exchange(&lock, 1))
			;
	else
		for (; !atomic_compare_exchange_weak(&lock, &free, 1); free = 0)
			;
	counter++;
	atomic_store(&lock, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	const int count = thread_count(argc, argv);

	run_threads(count, body);
	return counter != count;
}
