/* EXPECT: abort runs<=200 needs=memory */
/*
 * A queue with a lock for each end; both ends change the count, which has no lock.
 *
 * Fails when: main.0, which puts, reads the count; main.1 takes an element and counts one less;
 * main.0 writes its old value plus one.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 queue.count @more @less @more
 * EXPECT-PATTERN: R1-W2-W1 queue.count @less @more @less
 * EXPECT-TIMES: BlockingQueue threads=3 paper=0.17/0.18/0.194/0.202/1.39 -DCAPACITY=65536 -DELEMENTS=60000
 * EXPECT-BRANCH: assert(queue.count == 1 + ELEMENTS - taken); [bug]
 * EXPECT-BRANCH: if (queue.count > 0) { [benign]
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>

#ifndef CAPACITY
#define CAPACITY 4
#endif
#ifndef ELEMENTS
#define ELEMENTS 2
#endif

struct queue {
	pthread_mutex_t put_lock, take_lock;
	unsigned head;		/* guarded by take_lock */
	unsigned tail;		/* guarded by put_lock */
	int elements[CAPACITY]; /* counted ones belong to the taker, the others to the putter */
	volatile long count;
};

static struct queue queue = {
	.put_lock = PTHREAD_MUTEX_INITIALIZER, .take_lock = PTHREAD_MUTEX_INITIALIZER};

static void queue_put(int element)
{
	pthread_mutex_lock(&queue.put_lock);
	while (queue.count >= CAPACITY)
		sched_yield();
	queue.elements[queue.tail % CAPACITY] = element;
	queue.tail++;
	queue.count = queue.count + 1; /* @more */
	pthread_mutex_unlock(&queue.put_lock);
}

/* 0: it is empty. */
static int queue_try_take(void)
{
	int element = 0;

	pthread_mutex_lock(&queue.take_lock);
	if (queue.count > 0) {
		element = queue.elements[queue.head % CAPACITY];
		queue.head++;
		queue.count = queue.count - 1; /* @less */
	}
	pthread_mutex_unlock(&queue.take_lock);
	return element;
}

static void *produce(void *unused)
{
	for (int i = 1; i <= ELEMENTS; i++)
		queue_put(i);
	return unused;
}

static void *consume(void *taken)
{
	for (int i = 0; i < ELEMENTS; i++)
		*(long *)taken += queue_try_take() != 0;
	return NULL;
}

int main(void)
{
	pthread_t producer, consumer;
	long taken = 0;

	queue_put(100);
	pthread_create(&producer, NULL, produce, NULL);
	pthread_create(&consumer, NULL, consume, &taken);
	pthread_join(producer, NULL);
	pthread_join(consumer, NULL);
	assert(queue.count == 1 + ELEMENTS - taken);
	return 0;
}
