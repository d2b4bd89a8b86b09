/* EXPECT: passed runs=200 needs=memory */
/* The twin of block_manager: blocks are counted where the lock is held. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#ifndef BLOCKS
#define BLOCKS 4
#endif
#ifndef USERS
#define USERS 4
#endif

struct block {
	struct block *next;
};

struct manager {
	pthread_mutex_t lock;
	struct block *first;	  /* first free block; guarded by lock */
	volatile long free_count; /* guarded by lock */
};

static struct block blocks[BLOCKS];
static struct manager manager = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void manager_give_back(struct block *block)
{
	pthread_mutex_lock(&manager.lock);
	block->next = manager.first;
	manager.first = block;
	manager.free_count = manager.free_count + 1;
	pthread_mutex_unlock(&manager.lock);
}

static struct block *manager_take(void)
{
	pthread_mutex_lock(&manager.lock);
	struct block *block = manager.first;

	if (block) {
		manager.first = block->next;
		manager.free_count = manager.free_count - 1;
	}
	pthread_mutex_unlock(&manager.lock);
	return block;
}

static void *take_block(void *unused)
{
	assert(manager_take());
	return unused;
}

static void *give_back_block(void *block)
{
	manager_give_back(block);
	return NULL;
}

int main(void)
{
	pthread_t users[USERS];
	long free_count = 0;

	for (int i = USERS / 2; i < BLOCKS; i++)
		manager_give_back(&blocks[i]);
	for (int i = 0; i < USERS; i++)
		pthread_create(
			&users[i], NULL, i % 2 ? give_back_block : take_block, &blocks[i / 2]);
	for (int i = 0; i < USERS; i++)
		pthread_join(users[i], NULL);
	for (struct block *block = manager.first; block; block = block->next)
		free_count++;
	assert(manager.free_count == free_count);
	return 0;
}
