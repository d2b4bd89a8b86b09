/* EXPECT: deadlock strategy=surw runs<=1000 */
/*
 * Pattern: dining philosophers.
 *
 * Four philosophers take the fork on their left and then the one on their right.
 *
 * Fails when: every philosopher has locked the left fork before anyone locks the right one.
 */
#include <pthread.h>
#include <stdio.h>

#define SEATS 4

struct philosopher {
	int seat;
	int meals;
};

static pthread_mutex_t forks[SEATS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *dine(void *argument)
{
	struct philosopher *philosopher = argument;
	int first = philosopher->seat;
	int second = (philosopher->seat + 1) % SEATS;

	pthread_mutex_lock(&forks[first]);
	pthread_mutex_lock(&forks[second]);
	philosopher->meals++;
	pthread_mutex_unlock(&forks[second]);
	pthread_mutex_unlock(&forks[first]);
	return NULL;
}

int main(void)
{
	struct philosopher philosophers[SEATS];
	pthread_t threads[SEATS];
	int meals = 0;

	for (int i = 0; i < SEATS; i++) {
		philosophers[i] = (struct philosopher){.seat = i};
		pthread_create(&threads[i], NULL, dine, &philosophers[i]);
	}
	for (int i = 0; i < SEATS; i++) {
		pthread_join(threads[i], NULL);
		meals += philosophers[i].meals;
	}
	printf("%d meals eaten\n", meals);
	return 0;
}
