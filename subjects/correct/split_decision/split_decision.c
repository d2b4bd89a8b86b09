/* EXPECT: passed runs=2000 needs=memory */
/* The twin of split_decision: a compare-exchange aborts only what is undecided. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define PARTICIPANTS 3

enum { OPEN, COMMIT, ABORT };
static atomic_int votes, decision, outcome[PARTICIPANTS];

static void *participate(void *number)
{
	const long self = (long)number;
	int seen;

	atomic_fetch_add(&votes, 1);
	for (int tries = 0; tries < 3 && !(seen = atomic_load(&decision)); tries++)
		;
	if (!seen && self == PARTICIPANTS - 1) {
		int open = OPEN;

		(void)atomic_compare_exchange_strong(&decision, &open, ABORT);
	}
	outcome[self] = atomic_load(&decision);
	return NULL;
}

static void *coordinate(void *unused)
{
	if (atomic_load(&votes) == PARTICIPANTS) {
		int open = OPEN;

		(void)atomic_compare_exchange_strong(&decision, &open, COMMIT);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[PARTICIPANTS + 1];
	int commits = 0, aborts = 0;

	for (long i = 0; i < PARTICIPANTS; i++)
		pthread_create(&threads[i], NULL, participate, (void *)i);
	pthread_create(&threads[PARTICIPANTS], NULL, coordinate, NULL);
	for (int i = 0; i <= PARTICIPANTS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PARTICIPANTS; i++) {
		commits += outcome[i] == COMMIT;
		aborts += outcome[i] == ABORT;
	}
	assert(!commits || !aborts);
	return 0;
}
