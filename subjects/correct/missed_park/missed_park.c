/* EXPECT: passed runs=2000 needs=memory */
/*
 * The twin of missed_park: after its announcement, the consumer looks for items once more. If a producer has taken the
 * announcement back, its post follows, and the consumer waits for it.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#define PRODUCERS 2

static atomic_int items, is_asleep;
static sem_t wake;

static void await_item(void)
{
	if (atomic_load(&items))
		return;
	atomic_store(&is_asleep, 1);
	if (atomic_load(&items) && atomic_exchange(&is_asleep, 0))
		return;
	sem_wait(&wake);
}

static void *producer(void *unused)
{
	atomic_fetch_add(&items, 1);
	if (atomic_exchange(&is_asleep, 0))
		sem_post(&wake);
	return unused;
}

static void *consumer(void *unused)
{
	for (int i = 0; i < PRODUCERS; i++) {
		await_item();
		atomic_fetch_sub(&items, 1);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[PRODUCERS + 1];

	sem_init(&wake, 0, 0);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, producer, NULL);
	pthread_create(&threads[PRODUCERS], NULL, consumer, NULL);
	for (int i = 0; i <= PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
