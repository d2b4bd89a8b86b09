/* EXPECT: passed runs=2000 options=--memory-model=tso needs=memory */
/* The twin of dekker_release: a wish is a sequentially consistent store, which empties the store buffer. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wishes[2];
static atomic_int inside;

static void try_to_enter(int self)
{
	atomic_store(&wishes[self], 1);
	if (!atomic_load_explicit(&wishes[1 - self], memory_order_acquire)) {
		assert(atomic_fetch_add(&inside, 1) == 0);
		atomic_fetch_sub(&inside, 1);
	}
	atomic_store_explicit(&wishes[self], 0, memory_order_release);
}

static void *visit(void *self)
{
	for (int i = 0; i < 2; i++)
		try_to_enter(self != NULL);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, visit, NULL);
	pthread_create(&threads[1], NULL, visit, threads);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
