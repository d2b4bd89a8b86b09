/* EXPECT: passed runs=2000 needs=memory */
/* The twin of peterson: a thread announces its wish to enter before it gives the turn away. */
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

	atomic_store(&wants[self], 1);
	atomic_store(&turn, other);
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
