/*
 * `message` becomes a scheduling point because of a run in which receive() reads it. That read is
 * rare: if its site is switched off because the next runs do not execute it, no later run fails.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int message;
static atomic_int is_ready;

static void *send(void *unused)
{
	message = 42;
	atomic_store_explicit(&is_ready, 1, memory_order_relaxed);
	return unused;
}

static void *receive(void *unused)
{
	if (atomic_load_explicit(&is_ready, memory_order_acquire))
		assert(message == 42);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, send, NULL);
	pthread_create(&threads[1], NULL, receive, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
