/* EXPECT: abort runs<=2000 needs=memory */
/*
 * Dekker's lock, but each thread tests the other's wish to enter before it announces its own.
 * Fails: main finds that main.0 does not want to enter; main.0 finds the same of main; both enter.
 *
 * EXPECT-BRANCH: assert(inside == 1); [bug]
 * EXPECT-BRANCH: while (atomic_load(&wants[other])) { [benign]
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int wants[2];
static atomic_int turn;
static int inside; /* under the lock */

static void enter(int self)
{
	const int other = 1 - self;

	while (atomic_load(&wants[other])) {
		if (atomic_load(&turn) != self)
			while (atomic_load(&turn) != self)
				sched_yield();
		else
			sched_yield();
	}
	atomic_store(&wants[self], 1);
}

static void leave(int self)
{
	atomic_store(&turn, 1 - self);
	atomic_store(&wants[self], 0);
}

static void *work(void *argument)
{
	const int self = argument != NULL;

	enter(self);
	inside++;
	assert(inside == 1);
	inside--;
	leave(self);
	return NULL;
}

int main(void)
{
	pthread_t other;

	pthread_create(&other, NULL, work, &other);
	work(NULL);
	pthread_join(other, NULL);
	return 0;
}
