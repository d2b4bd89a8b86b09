/*
 * EXPECT-BRANCH: while (atomic_load(&loaded) == 0) [ad hoc synchronisation]
 * EXPECT-BRANCH: if (atomic_load(&loaded) < PAGES) [benign]
 *
 * Loader: one thread loads pages while another one waits for the first page with a hand-made flag,
 * and then uses the pages loaded so far.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define PAGES 4

static int pages[PAGES];
static atomic_int loaded;

static void *load(void *unused)
{
	for (int i = 0; i < PAGES; i++) {
		pages[i] = i + 1;
		atomic_store(&loaded, i + 1);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, load, NULL);
	while (atomic_load(&loaded) == 0)
		sched_yield();
	if (atomic_load(&loaded) < PAGES)
		puts("incomplete");
	pthread_join(thread, NULL);
	return 0;
}
