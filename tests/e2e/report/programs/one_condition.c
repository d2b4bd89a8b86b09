/* A mailbox for one letter: readers and writers wait on one condition variable, and a signal wakes the wrong one. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_full;
} mailbox = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void exchange(bool fill)
{
	pthread_mutex_lock(&mailbox.lock);
	while (mailbox.is_full == fill)
		pthread_cond_wait(&mailbox.changed, &mailbox.lock);
	mailbox.is_full = fill;
	pthread_cond_signal(&mailbox.changed);
	pthread_mutex_unlock(&mailbox.lock);
}

static void *exchange_twice(void *fill)
{
	exchange(fill != NULL);
	exchange(fill != NULL);
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, exchange_twice, i % 2 ? &mailbox : NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
