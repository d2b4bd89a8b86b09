/* A library whose answer depends on the schedule. */
#include <stdatomic.h>

int library_count(void);
void library_add(void);

static atomic_int count;

int library_count(void)
{
	return atomic_load(&count);
}

void library_add(void)
{
	atomic_fetch_add(&count, 1);
}
