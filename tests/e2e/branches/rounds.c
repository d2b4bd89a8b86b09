/*
 * The last thread to arrive at a barrier, and the success of a semaphore, are tested much later; the actions of other threads
 * depend on them, too. The marked conditions depend on the schedule, the others do not. The barrier has several rounds.
 */
#include <pthread.h>
#include <semaphore.h>

static pthread_barrier_t barrier;
static sem_t given;
static int counts[2], reported, taken, quiet;

static void *work(void *unused)
{
	int was_last, was_given;

	was_given = sem_trywait(&given) == 0;
	taken = 1;
	for (int i = 0; i < 2; i++) {
		was_last = pthread_barrier_wait(&barrier) != 0;
		counts[i] += 1;
		pthread_barrier_wait(&barrier);
		if (was_last) /* sensitive */
			reported = i;
	}
	if (was_given) /* sensitive */
		sem_post(&given);
	return unused;
}

int main(void)
{
	pthread_t thread;
	int first, second;

	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&given, 0, 0);
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	sem_post(&given);
	first = pthread_barrier_wait(&barrier);
	quiet = counts[1];
	pthread_barrier_wait(&barrier);
	if (quiet) /* no thread has arrived there */
		reported = 3;
	second = pthread_barrier_wait(&barrier);
	counts[0]++;
	pthread_barrier_wait(&barrier);
	if (first == second) /* sensitive */
		counts[0]++;
	if (counts[0] < 2) /* one of each thread */
		counts[0]++;
	pthread_join(thread, NULL);
	if (first) /* the other thread would have taken another branch before */
		counts[0]++;
	return 0;
}
