/* EXPECT: abort runs<=2000 needs=memory */
/*
 * Peterson's lock with its first two lines exchanged. Fails: main gives the turn to main.0; main.0 gives
 * the turn to main, says that it wants to enter, finds that main does not, and enters; main says that it
 * wants to enter, finds that the turn is its own, and enters as well.
 *
 * EXPECT-BRANCH: while (atomic_load(&wants[other]) && atomic_load(&turn) == other) [bug]
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

	atomic_store(&turn, other);
	atomic_store(&wants[self], 1);
	while (atomic_load(&wants[other]) && atomic_load(&turn) == other)
		sched_yield();
}

static void leave(int self)
{
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
