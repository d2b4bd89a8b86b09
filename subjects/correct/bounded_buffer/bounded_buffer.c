/* EXPECT: passed runs=20000 */
/*
 * Pattern: `if` instead of `while` around a wait.
 *
 * A bounded buffer of jobs. A woken consumer tests again.
 *
 * Corrected: the wait stands in a loop. Cannot fail: a consumer continues only after it has seen a
 * job under the lock that it still holds. Every put wakes a waiting consumer, and each consumer
 * stops at the first 0, so the two zeros end both.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define SLOTS 4
#define CONSUMERS 2

static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	pthread_cond_t not_full;
	int slots[SLOTS];
	int count, head;
} buffer = {.lock = PTHREAD_MUTEX_INITIALIZER,
	.not_empty = PTHREAD_COND_INITIALIZER,
	.not_full = PTHREAD_COND_INITIALIZER};

static void buffer_put(int job)
{
	pthread_mutex_lock(&buffer.lock);
	while (buffer.count == SLOTS)
		pthread_cond_wait(&buffer.not_full, &buffer.lock);
	buffer.slots[(buffer.head + buffer.count++) % SLOTS] = job;
	pthread_cond_signal(&buffer.not_empty);
	pthread_mutex_unlock(&buffer.lock);
}

static int buffer_take(void)
{
	pthread_mutex_lock(&buffer.lock);
	while (buffer.count == 0)
		pthread_cond_wait(&buffer.not_empty, &buffer.lock);
	assert(buffer.count > 0);
	int job = buffer.slots[buffer.head];
	buffer.head = (buffer.head + 1) % SLOTS;
	buffer.count--;
	pthread_cond_signal(&buffer.not_full);
	pthread_mutex_unlock(&buffer.lock);
	return job;
}

static void *consumer(void *unused)
{
	(void)unused;
	while (buffer_take() != 0)
		continue;
	return NULL;
}

int main(void)
{
	pthread_t consumers[CONSUMERS];

	for (int i = 0; i < CONSUMERS; i++)
		pthread_create(&consumers[i], NULL, consumer, NULL);
	for (int job = 1; job <= 2; job++)
		buffer_put(job);
	for (int i = 0; i < CONSUMERS; i++)
		buffer_put(0); /* 0 means that no work follows */
	for (int i = 0; i < CONSUMERS; i++)
		pthread_join(consumers[i], NULL);
	printf("all jobs taken\n");
	return 0;
}
