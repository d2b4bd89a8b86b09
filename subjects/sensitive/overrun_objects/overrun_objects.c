/*
 * EXPECT-BRANCH: if (atomic_load(&count) < ROOM) { [benign]
 * EXPECT-BRANCH: heap[atomic_load(&count)] = 8; [benign]
 * EXPECT-BRANCH: box.values[atomic_load(&count)] = 9; [benign]
 * EXPECT-BRANCH: return array[atomic_load(&count)]; [benign]
 *
 * The program of overrun with arrays that are no variables: allocated memory, a member with another one
 * behind it, and a local of the caller. No check notices this, because other memory follows each array.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define ROOM 2

struct box {
	int values[ROOM];
	int neighbours[ROOM];
};

static int *heap;
static struct box box;
static atomic_int count = 1;

static void *reserve(void *unused)
{
	atomic_fetch_add(&count, 1);
	return unused;
}

__attribute__((noinline)) static int look(const int *array)
{
	return array[atomic_load(&count)];
}

int main(void)
{
	int local[ROOM] = {1, 2}, sum = 0;
	pthread_t thread;

	heap = malloc(ROOM * sizeof *heap);
	pthread_create(&thread, NULL, reserve, NULL);
	if (atomic_load(&count) < ROOM) {
		heap[atomic_load(&count)] = 8;
		box.values[atomic_load(&count)] = 9;
		sum = look(local);
	}
	pthread_join(thread, NULL);
	free(heap);
	return sum + box.values[0] + box.neighbours[0] > 1000000;
}
