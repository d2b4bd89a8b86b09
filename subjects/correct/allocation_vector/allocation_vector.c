/* EXPECT: passed runs=300 needs=memory */
/* The twin of allocation_vector: a free block is found and marked under one lock. */
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

	for (int i = 0; i < BLOCKS && found == NONE; i++)
		if (vector.blocks[i] == FREE)
			found = i;
	return found;
}

static void mark_allocated(int block)
{
	assert(vector.blocks[block] == FREE);
	vector.blocks[block] = ALLOCATED;
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
		pthread_mutex_lock(&vector.lock);
		own[i] = find_free_block();
		assert(own[i] != NONE);
		mark_allocated(own[i]);
		pthread_mutex_unlock(&vector.lock);
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
