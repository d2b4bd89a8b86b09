/* EXPECT: deadlock runs<=40 */
/*
 * Initialises a semaphore when a thread may wait on it already. That thread is forgotten: later
 * posts do not wake it.
 */
#include <pthread.h>
#include <semaphore.h>

static sem_t ready;

static void *wait_until_ready(void *unused)
{
	sem_wait(&ready);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_until_ready, NULL);
	sem_init(&ready, 0, 0);
	sem_post(&ready);
	pthread_join(thread, NULL);
	return 0;
}
