/*
 * EXPECT-BRANCH: if (atomic_load(&called[floor])) { [bug]
 *
 * Elevator: two lifts search for a floor that has called, and accept the call in a second step:
 * both may go to one floor.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define FLOORS 2

static atomic_int called[FLOORS] = {1, 1};
static atomic_int stops[FLOORS];

static void *lift(void *unused)
{
	for (int floor = 0; floor < FLOORS; floor++) {
		if (atomic_load(&called[floor])) {
			atomic_store(&called[floor], 0);
			atomic_fetch_add(&stops[floor], 1);
		}
	}
	return unused;
}

int main(void)
{
	pthread_t first, second;

	pthread_create(&first, NULL, lift, NULL);
	pthread_create(&second, NULL, lift, NULL);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	assert(atomic_load(&stops[0]) == 1);
	return 0;
}
