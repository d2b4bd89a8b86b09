/* Two branches that depend on the schedule: one on what the library says, one on the program's own variable. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

int library_count(void);
void library_add(void);

static atomic_int own;
static int reported;

static void *add(void *unused)
{
	library_add();
	atomic_fetch_add(&own, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, add, NULL);
	if (library_count() > 0)
		reported += puts("the library has counted");
	if (atomic_load(&own) > 0)
		reported += puts("the program has counted");
	pthread_join(thread, NULL);
	return 0;
}
