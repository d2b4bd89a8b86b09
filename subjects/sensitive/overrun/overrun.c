/*
 * EXPECT-BRANCH: if (atomic_load(&count) < ROOM) [benign]
 * EXPECT-BRANCH: entries[atomic_load(&count)] = 8; [benign]
 *
 * A table with room for two, one place of which is taken. The program tests first whether a place is free, and takes the
 * place later. If another thread reserves a place in between, the entry lies behind the table. No check notices this.
 */
#include <pthread.h>
#include <stdatomic.h>

#define ROOM 2

static int entries[ROOM];
static int neighbours[ROOM + 2];
static atomic_int count = 1;

static void *reserve(void *unused)
{
	atomic_fetch_add(&count, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, reserve, NULL);
	if (atomic_load(&count) < ROOM)
		entries[atomic_load(&count)] = 8;
	pthread_join(thread, NULL);
	return neighbours[0] + entries[0];
}
