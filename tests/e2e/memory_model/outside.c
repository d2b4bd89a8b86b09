/* outside PART: store buffering in which a library has a part that raddle-cc has not compiled. Aborts if both threads read 0.
 * accesses: the library stores and loads; compute: it computes between store and load; lock: it locks one mutex there, the
 * same in both threads; locks: another mutex in each thread; none: nothing comes between. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "outside_library.h"

static const char *part;
static atomic_int flags[2];
static int seen[2];

static void *run(void *argument)
{
	const int me = *(const int *)argument;
	volatile int *const own = (volatile int *)&flags[me],
			    *const other = (volatile int *)&flags[1 - me];

	if (strcmp(part, "accesses") == 0) {
		library_store(own);
		seen[me] = library_load(other);
		return NULL;
	}
	atomic_store_explicit(&flags[me], 1, memory_order_relaxed);
	if (strcmp(part, "compute") == 0 && library_compute(part) != 7)
		abort();
	if (strcmp(part, "lock") == 0)
		library_lock(0);
	if (strcmp(part, "locks") == 0)
		library_lock(me);
	seen[me] = atomic_load_explicit(&flags[1 - me], memory_order_relaxed);
	return NULL;
}

int main(int argc, char **argv)
{
	static int numbers[2] = {0, 1};
	pthread_t threads[2];

	if (argc != 2)
		return 2;
	part = argv[1];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (!seen[0] && !seen[1])
		abort();
	return 0;
}
