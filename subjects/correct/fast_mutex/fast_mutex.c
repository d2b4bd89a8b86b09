/* EXPECT: passed runs=2000 needs=memory */
/* The twin of fast_mutex: the thread waits until no other thread decides, and then reads `owner` again. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 3

static atomic_int last, owner, is_deciding[THREADS + 1];
static int inside;

static int is_owner_after_all(int self)
{
	atomic_store(&is_deciding[self], 0);
	for (int i = 1; i <= THREADS; i++)
		while (atomic_load(&is_deciding[i]))
			;
	return atomic_load(&owner) == self;
}

static void lock(int self)
{
	for (;;) {
		atomic_store(&is_deciding[self], 1);
		atomic_store(&last, self);
		if (!atomic_load(&owner)) {
			atomic_store(&owner, self);
			if (atomic_load(&last) == self || is_owner_after_all(self))
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
