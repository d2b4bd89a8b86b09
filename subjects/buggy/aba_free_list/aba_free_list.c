/* EXPECT: abort runs<=100000 needs=memory */
/*
 * A lock-free free list of blocks without versions. Fails: main.0 reads the first block and its successor;
 * main.1 takes the first block, main.2 takes the second, and main.1 returns the first. The exchange of main.0
 * succeeds and makes the second block, which main.2 uses, the first. Another thread takes it, too.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define BLOCKS 4
#define THREADS 3
#define ROUNDS 2
#define NONE (-1)

static atomic_int first;
static atomic_int next[BLOCKS];
static atomic_int users[BLOCKS];

static int take_block(void)
{
	int block = atomic_load(&first);

	while (block != NONE &&
		!atomic_compare_exchange_strong(&first, &block, atomic_load(&next[block])))
		;
	return block;
}

static void return_block(int block)
{
	int head = atomic_load(&first);

	do
		atomic_store(&next[block], head);
	while (!atomic_compare_exchange_strong(&first, &head, block));
}

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		const int block = take_block();

		if (block == NONE)
			continue;
		assert(atomic_fetch_add(&users[block], 1) == 0);
		atomic_fetch_sub(&users[block], 1);
		return_block(block);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < BLOCKS; i++)
		atomic_init(&next[i], i + 1 < BLOCKS ? i + 1 : NONE);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
