/* EXPECT: abort runs<=500 needs=memory */
/*
 * Lamport's fast mutex, in which a thread that finds another thread's number in `last` does not wait for those that
 * have seen no owner yet. Fails: main.0 sees no owner and is preempted; main.1 enters; main.0 overwrites `owner` and
 * enters, too.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 3

static atomic_int last, owner, is_deciding[THREADS + 1];
static int inside;

static void lock(int self)
{
	for (;;) {
		atomic_store(&is_deciding[self], 1);
		atomic_store(&last, self);
		if (!atomic_load(&owner)) {
			atomic_store(&owner, self);
			if (atomic_load(&last) == self || atomic_load(&owner) == self)
				return;
		}
		atomic_store(&is_deciding[self], 0);
		while (atomic_load(&owner))
			;
	}
}

static void unlock(int self)
{
	atomic_store(&owner, 0);
	atomic_store(&is_deciding[self], 0);
}

static void *enter(void *self)
{
	lock((int)(long)self);
	inside++;
	assert(inside == 1);
	inside--;
	unlock((int)(long)self);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, enter, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
