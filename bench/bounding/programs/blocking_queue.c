/* A producer compresses blocks and passes them to a consumer through a queue of bounded length. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "run_time.h"

#ifndef SCALE
#define SCALE 1
#endif
#define BLOCKS (2000 * SCALE)
#define BLOCK_BYTES 2048
#define CAPACITY 16

struct block {
	unsigned sum; /* sum of its bytes as the producer computed it */
	unsigned char bytes[BLOCK_BYTES];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct block *slots[CAPACITY]; /* guarded by lock */
	unsigned first,
		count; /* position of the first block, and number of blocks; guarded by lock */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void put(struct block *block)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.count == CAPACITY)
		pthread_cond_wait(&queue.changed, &queue.lock);
	queue.slots[(queue.first + queue.count++) % CAPACITY] = block;
	pthread_cond_signal(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
}

static struct block *take(void)
{
	struct block *block;

	pthread_mutex_lock(&queue.lock);
	while (!queue.count)
		pthread_cond_wait(&queue.changed, &queue.lock);
	block = queue.slots[queue.first];
	queue.first = (queue.first + 1) % CAPACITY;
	queue.count--;
	pthread_cond_signal(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	return block;
}

static unsigned digest(const unsigned char *bytes)
{
	unsigned sum = 2166136261u;

	for (int i = 0; i < BLOCK_BYTES; i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}

static void *produce(void *unused)
{
	unsigned state = 1;

	for (int i = 0; i < BLOCKS; i++) {
		struct block *const block = malloc(sizeof *block);

		for (int j = 0; j < BLOCK_BYTES; j++) {
			state = state * 1664525 + 1013904223;
			block->bytes[j] = (unsigned char)(state >> 24);
		}
		block->sum = digest(block->bytes);
		put(block);
	}
	return unused;
}

static void *consume(void *unused)
{
	for (int i = 0; i < BLOCKS; i++) {
		struct block *const block = take();

		assert(digest(block->bytes) == block->sum);
		free(block);
	}
	return unused;
}

int main(void)
{
	pthread_t producer, consumer;

	pthread_create(&producer, NULL, produce, NULL);
	pthread_create(&consumer, NULL, consume, NULL);
	pthread_join(producer, NULL);
	pthread_join(consumer, NULL);
	run_ends();
	return 0;
}
