/*
 * Memory that another thread gives back: values read before are unchanged, and values read after are unknown.
 * The condition that is marked depends on the schedule; the other one would only if memory kept its value.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static long *is_open;
static atomic_int is_closed;

static void *close_it(void *unused)
{
	*is_open = 0;
	free(is_open);
	is_closed = 1;
	return unused;
}

int main(void)
{
	pthread_t closer;
	int late = 0;

	is_open = calloc(4, sizeof *is_open);
	if (!is_open || pthread_create(&closer, NULL, close_it, NULL))
		return 1;
	const int was_closed = is_closed;

	if (!*is_open) {
		if (was_closed)
			late += 2;
		if (is_closed) /* sensitive */
			late++;
	}
	pthread_join(closer, NULL);
	return late > 1;
}
