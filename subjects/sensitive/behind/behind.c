/*
 * EXPECT-BRANCH: if (is_open) { [benign]
 *
 * Two branches hide an assertion. The recorded run, in which main is first, does not enter the first branch.
 * Flipping this branch gives a run that does not enter the second; flipping the second gives a run that passes
 * the assertion. One more answer from that run fails. `raddle branches --assertions` finds it in the third run.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int is_open, stage, price = 1;

static void *shopkeeper(void *unused)
{
	is_open = 1;
	stage = 1;
	stage = 0;
	price = 0;
	price = 1;
	stage = 2;
	return unused;
}

int main(void)
{
	pthread_t thread;
	int sold = 0;

	pthread_create(&thread, NULL, shopkeeper, NULL);
	if (is_open) {
		if (stage == 1) {
			sold = 7;
			assert(price > 0);
		}
	}
	pthread_join(thread, NULL);
	return sold == 8;
}
