/* EXPECT: abort runs<=200 needs=memory */
/*
 * Allocation vector: a free block is found and marked in two steps, each under the lock. Bindal,
 * Bansal and Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs",
 * 2012, figure 12; after Eytani and others' collection of concurrent programs with bugs.
 *
 * Fails when: main.0 finds that block 0 is free; main.1 finds it, too, and marks it as allocated;
 * main.0 wants to mark it, and it is not free. (If main.1 freed it before, nothing would fail.)
 *
 * EXPECT-BOUNDS: c=2 v=1 t=2
 * EXPECT-TABLE: AllocationVector threads=3 schedules=113 -DBLOCKS=4000 -DWANTED=1
 * EXPECT-PATTERN: R1-W2-R1 vector.blocks @is_free @allocate @still_free
 * EXPECT-BRANCH: assert(vector.blocks[block] == FREE); [bug]
 * EXPECT-BRANCH: for (int i = 0; i < BLOCKS && found == NONE; i++) [benign|bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef BLOCKS
#define BLOCKS 16
#endif
#ifndef WANTED
#define WANTED 2
#endif
#define NONE (-1)

enum state { FREE, ALLOCATED };

struct vector {
	pthread_mutex_t lock;
	enum state blocks[BLOCKS]; /* guarded by lock */
};

static struct vector vector = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns NONE if all are allocated. */
static int find_free_block(void)
{
	int found = NONE;

	pthread_mutex_lock(&vector.lock);
	for (int i = 0; i < BLOCKS && found == NONE; i++)
		if (vector.blocks[i] == FREE) /* @is_free */
			found = i;
	pthread_mutex_unlock(&vector.lock);
	return found;
}

static void mark_allocated(int block)
{
	pthread_mutex_lock(&vector.lock);
	assert(vector.blocks[block] == FREE); /* @still_free */
	vector.blocks[block] = ALLOCATED;     /* @allocate */
	pthread_mutex_unlock(&vector.lock);
}

static void mark_free(int block)
{
	pthread_mutex_lock(&vector.lock);
	assert(vector.blocks[block] == ALLOCATED);
	vector.blocks[block] = FREE;
	pthread_mutex_unlock(&vector.lock);
}

static void *allocate_and_free(void *unused)
{
	int own[WANTED];

	for (int i = 0; i < WANTED; i++) {
		own[i] = find_free_block();
		assert(own[i] != NONE);
		mark_allocated(own[i]);
	}
	for (int i = 0; i < WANTED; i++)
		mark_free(own[i]);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, allocate_and_free, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < BLOCKS; i++)
		assert(vector.blocks[i] == FREE);
	return 0;
}
