/* EXPECT: deadlock runs<=2000 options=--memory-model=tso needs=memory */
/*
 * A consumer announces that it parks, then looks for work once more; a producer stores its work, then looks
 * for a parked consumer. Both announcements are release stores. Fails on x86: both wait in the store buffers
 * while both threads look, so the producer posts nothing and the consumer parks for ever.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static atomic_int has_work, is_parked;
static sem_t wake_up;

static void *consumer(void *unused)
{
	atomic_store_explicit(&is_parked, 1, memory_order_release);
	if (!atomic_load_explicit(&has_work, memory_order_acquire))
		sem_wait(&wake_up);
	return unused;
}

static void *producer(void *unused)
{
	atomic_store_explicit(&has_work, 1, memory_order_release);
	if (atomic_load_explicit(&is_parked, memory_order_acquire))
		sem_post(&wake_up);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	sem_init(&wake_up, 0, 0);
	pthread_create(&threads[0], NULL, consumer, NULL);
	pthread_create(&threads[1], NULL, producer, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
