/* EXPECT: abort runs<=300 needs=memory */
/*
 * Manager: blocks are released by whoever releases them last, and counted without a lock. After Eytani
 * and others' collection of concurrent programs with bugs.
 *
 * Fails when: a thread that gives its block back reads how many are free; another one takes a block and
 * writes one less; the first writes what it had read plus one; the other gives its block back.
 *
 * EXPECT-BOUNDS: c=2 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 manager.free_count @give_back @take @give_back
 * EXPECT-PATTERN: R1-W2-W1 manager.free_count @give_back @give_back @give_back
 * EXPECT-PATTERN: R1-W2-W1 manager.free_count @take @give_back @take
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#define BLOCKS 4
#define USERS 3

struct block {
	struct block *next;
};

struct manager {
	pthread_mutex_t lock;
	struct block *first;	  /* that is free; guarded by lock */
	volatile long free_count; /* guarded by lock */
};

static struct block blocks[BLOCKS];
static struct manager manager = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void manager_give_back(struct block *block)
{
	pthread_mutex_lock(&manager.lock);
	block->next = manager.first;
	manager.first = block;
	pthread_mutex_unlock(&manager.lock);
	manager.free_count = manager.free_count + 1; /* @give_back */
}

static struct block *manager_take(void)
{
	pthread_mutex_lock(&manager.lock);
	struct block *block = manager.first;

	if (block) {
		manager.first = block->next;
		manager.free_count = manager.free_count - 1; /* @take */
	}
	pthread_mutex_unlock(&manager.lock);
	return block;
}

static void *use_block(void *unused)
{
	struct block *block = manager_take();

	assert(block);
	manager_give_back(block);
	return unused;
}

int main(void)
{
	pthread_t users[USERS];

	for (int i = 0; i < BLOCKS; i++)
		manager_give_back(&blocks[i]);
	for (int i = 0; i < USERS; i++)
		pthread_create(&users[i], NULL, use_block, NULL);
	for (int i = 0; i < USERS; i++)
		pthread_join(users[i], NULL);
	assert(manager.free_count == BLOCKS);
	return 0;
}
