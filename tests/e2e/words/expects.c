/* Ends as a test does whose expectation fails, in GoogleTest's words: two threads have taken one seat. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seats = 1, taken;

static bool has_seat(void)
{
	bool is_free;

	pthread_mutex_lock(&lock);
	is_free = seats > 0;
	pthread_mutex_unlock(&lock);
	return is_free;
}

static void *take_seat(void *unused)
{
	if (has_seat()) {
		pthread_mutex_lock(&lock);
		taken++;
		seats = 0;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, take_seat, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (taken == 1)
		return EXIT_SUCCESS;
	printf("[ RUN      ] Cinema.SellsEachSeatOnce\n"
	       "/src/%s:%d: Failure\nExpected equality of these values:\n  seats\n    Which is: %d\n  1\n\n"
	       "[  FAILED  ] Cinema.SellsEachSeatOnce (0 ms)\n",
		"expects.c", __LINE__, seats);
	return EXIT_FAILURE;
}
