/* EXPECT: passed runs=2000 options=--memory-model=tso needs=memory */
/* The twin of peterson_release: the turn is a sequentially consistent store, which empties the store buffer. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wishes[2];
atomic_int turn; /* not static: clang makes a static variable of one function local to each call */
static int counter;

static void lock(int self)
{
	atomic_store_explicit(&wishes[self], 1, memory_order_release);
	atomic_store(&turn, 1 - self);
	while (atomic_load_explicit(&wishes[1 - self], memory_order_acquire) &&
		atomic_load_explicit(&turn, memory_order_acquire) == 1 - self)
		;
}

static void unlock(int self)
{
	atomic_store_explicit(&wishes[self], 0, memory_order_release);
}

static void *count(void *self)
{
	const int number = self != NULL;

	lock(number);
	counter++;
	unlock(number);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, count, NULL);
	pthread_create(&threads[1], NULL, count, threads);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert(counter == 2);
	return 0;
}
