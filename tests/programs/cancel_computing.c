/* EXPECT: passed runs=3 */
/* Asynchronous cancellation ends threads that only compute, and their cleanup handlers run. */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"

static volatile unsigned long rounds[2];
static int cleaned[2];

static void clean(void *number)
{
	cleaned[(intptr_t)number]++;
}

static void *compute(void *number)
{
	pthread_cleanup_push(clean, number);
	MUST(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
	for (;;)
		rounds[(intptr_t)number]++;
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	void *result;

	for (intptr_t i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, compute, (void *)i) == 0);
	usleep(10000);
	for (int i = 0; i < 2; i++) {
		CHECK(pthread_cancel(threads[i]) == 0);
		CHECK(pthread_join(threads[i], &result) == 0);
		CHECK(result == PTHREAD_CANCELED);
		/* One that is cancelled before it begins has nothing to clean. */
		CHECK(cleaned[i] == (rounds[i] > 0) || cleaned[i] == 1);
	}
	return check_status();
}
