/* n threads that wait in a loop until a flag is set, and then read what was written before: one trace. */
#include <sched.h>
#include <stdatomic.h>

#include "scaling.h"

static atomic_int ready;
static long written, read_by[THREADS_MOST];

static void *body(void *number)
{
	if (!number) {
		written = 1;
		atomic_store(&ready, 1);
		return NULL;
	}
	while (!atomic_load(&ready))
		sched_yield();
	read_by[(long)number] = written;
	return NULL;
}

int main(int argc, char **argv)
{
	const int count = thread_count(argc, argv);

	run_threads(count, body);
	for (int i = 1; i < count; i++)
		if (read_by[i] != 1)
			return 1;
	return 0;
}
