/* EXPECT: passed runs=5 */
/* Two hundred threads at once, all waiting for the same event, then all going through one lock. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "check.h"

#define THREADS 200

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool is_open;
static int waiting, passed;
static __thread int own;

static void *pass(void *number)
{
	own = (int)(intptr_t)number;
	pthread_mutex_lock(&mutex);
	waiting++;
	while (!is_open)
		pthread_cond_wait(&opened, &mutex);
	passed++;
	pthread_mutex_unlock(&mutex);
	return (void *)(intptr_t)own;
}

int main(void)
{
	pthread_t threads[THREADS];
	int right = 0;

	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, pass, (void *)(intptr_t)i) == 0);
	pthread_mutex_lock(&mutex);
	is_open = true;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < THREADS; i++) {
		void *result;

		MUST(pthread_join(threads[i], &result) == 0);
		right += (intptr_t)result == i;
	}
	CHECK(right == THREADS);
	CHECK(waiting == THREADS);
	CHECK(passed == THREADS);
	return check_status();
}
