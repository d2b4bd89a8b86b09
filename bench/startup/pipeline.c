/*
 * A pipeline of two workers. If the argument is "fails", the program expects one item too many, and
 * each run fails; otherwise each run passes.
 */
#include <stdlib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CAPACITY 2
#define ITEMS 3

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t is_filled;
	pthread_cond_t is_drained;
	int items[CAPACITY];
	unsigned count;
	bool is_closed;
};

static struct queue pending = {.lock = PTHREAD_MUTEX_INITIALIZER,
	.is_filled = PTHREAD_COND_INITIALIZER,
	.is_drained = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t results_lock = PTHREAD_MUTEX_INITIALIZER;
static int results;

static void queue_push(struct queue *queue, int item)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == CAPACITY)
		pthread_cond_wait(&queue->is_drained, &queue->lock);
	queue->items[queue->count++] = item;
	pthread_cond_signal(&queue->is_filled);
	pthread_mutex_unlock(&queue->lock);
}

static bool queue_pop(struct queue *queue, int *item)
{
	bool has_item;

	pthread_mutex_lock(&queue->lock);
	while (!queue->count && !queue->is_closed)
		pthread_cond_wait(&queue->is_filled, &queue->lock);
	has_item = queue->count > 0;
	if (has_item)
		*item = queue->items[--queue->count];
	pthread_cond_signal(&queue->is_drained);
	pthread_mutex_unlock(&queue->lock);
	return has_item;
}

static void queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->is_closed = true;
	pthread_cond_broadcast(&queue->is_filled);
	pthread_mutex_unlock(&queue->lock);
}

static void *worker(void *argument)
{
	int item;

	(void)argument;
	while (queue_pop(&pending, &item)) {
		pthread_mutex_lock(&results_lock);
		results += item;
		pthread_mutex_unlock(&results_lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const bool is_wrong = argc > 1 && !strcmp(argv[1], "fails");
	pthread_t workers[2];

	for (unsigned i = 0; i < 2; i++)
		pthread_create(&workers[i], NULL, worker, NULL);
	for (unsigned i = 0; i < ITEMS; i++)
		queue_push(&pending, 1);
	queue_close(&pending);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(workers[i], NULL);
	printf("%d items\n", results);
	if (results != ITEMS + is_wrong)
		abort();
	return 0;
}
