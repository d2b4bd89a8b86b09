/* main takes a pointer under the lock, and uses it later under the lock. Meanwhile a thread may free the block. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *slot;

static void *evict(void *unused)
{
	pthread_mutex_lock(&lock);
	free(slot);
	slot = NULL;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;
	int *own, sum = 0;

	slot = calloc(16, sizeof *slot);
	pthread_create(&thread, NULL, evict, NULL);
	pthread_mutex_lock(&lock);
	own = slot;
	if (own)
		++*own;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	if (own)
		sum = *own;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return sum == 2;
}
