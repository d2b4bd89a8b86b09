/* EXPECT: passed runs=200 needs=memory */
/* The twin of blocking_queue: elements are counted in one step. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

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
	atomic_long count;
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
	queue.count++;
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
		queue.count--;
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
