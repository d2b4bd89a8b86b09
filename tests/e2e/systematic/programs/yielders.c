/* n threads that test a flag twice, and yield in between: a thread that yields waits until the others have moved. */
#include <sched.h>
#include <stdatomic.h>

#include "scaling.h"

static atomic_int is_ready;

static void *body(void *number)
{
	if (!number)
		atomic_store(&is_ready, 1);
	for (int i = 0; number && i < 2 && !atomic_load(&is_ready); i++)
		sched_yield();
	return NULL;
}

int main(int argc, char **argv)
{
	run_threads(thread_count(argc, argv), body);
	return 0;
}
