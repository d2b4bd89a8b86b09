/*
 * EXPECT-BRANCH: if (!is_taken[left] && !is_taken[right]) [benign]
 *
 * Philo: philosophers who take both forks at once or continue to think. The schedule determines
 * which of them finds a neighbour eating; this is harmless.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define SEATS 3

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static bool is_taken[SEATS];
static int hungry;

static void *dine(void *seat)
{
	const int left = *(int *)seat, right = (left + 1) % SEATS;
	bool eats = false;

	pthread_mutex_lock(&table);
	if (!is_taken[left] && !is_taken[right])
		eats = is_taken[left] = is_taken[right] = true;
	pthread_mutex_unlock(&table);
	pthread_mutex_lock(&table);
	if (eats)
		is_taken[left] = is_taken[right] = false;
	else
		hungry++;
	pthread_mutex_unlock(&table);
	return NULL;
}

int main(void)
{
	int seats[SEATS] = {0, 1, 2};
	pthread_t threads[SEATS];

	for (int i = 0; i < SEATS; i++)
		pthread_create(&threads[i], NULL, dine, &seats[i]);
	for (int i = 0; i < SEATS; i++)
		pthread_join(threads[i], NULL);
	if (hungry)
		puts("somebody is still hungry");
	return 0;
}
