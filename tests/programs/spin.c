/* EXPECT: passed runs=50 */
/* Spin locks: mutual exclusion, trylock, and a holder that is switched away. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "check.h"

#define THREADS 3
#define ROUNDS 5

static pthread_spinlock_t spin;
static int inside, most_inside, total;

static void *count(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_spin_lock(&spin);
		inside++;
		if (inside > most_inside)
			most_inside = inside;
		sched_yield();
		total++;
		inside--;
		pthread_spin_unlock(&spin);
	}
	return NULL;
}

static void *try_lock(void *unused)
{
	int result = pthread_spin_trylock(&spin);

	(void)unused;
	if (result == 0)
		pthread_spin_unlock(&spin);
	return (void *)(intptr_t)result;
}

static int try_by_another(void)
{
	pthread_t thread;
	void *result;

	MUST(pthread_create(&thread, NULL, try_lock, NULL) == 0);
	MUST(pthread_join(thread, &result) == 0);
	return (int)(intptr_t)result;
}

int main(void)
{
	pthread_t threads[THREADS];

	CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, count, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(total == THREADS * ROUNDS);
	CHECK(most_inside == 1);
	CHECK(pthread_spin_lock(&spin) == 0);
	CHECK(pthread_spin_trylock(&spin) == EBUSY);
	CHECK(try_by_another() == EBUSY);
	CHECK(pthread_spin_unlock(&spin) == 0);
	CHECK(try_by_another() == 0);
	CHECK(pthread_spin_destroy(&spin) == 0);
	return check_status();
}
