/* EXPECT: passed runs=2000 options=--memory-model=c11 needs=memory */
/* The twin of relaxed_once: the winner announces the end with release. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define ENTRIES 2
#define THREADS 2
#define DONE_ORDER memory_order_release

enum once_state { ONCE_NEW, ONCE_RUNNING, ONCE_DONE };

static atomic_int once;
static int table[ENTRIES];

static void initialise(void)
{
	for (int i = 0; i < ENTRIES; i++)
		table[i] = i + 1;
}

static void call_once_only(void)
{
	int seen = ONCE_NEW;

	if (atomic_load_explicit(&once, memory_order_acquire) == ONCE_DONE)
		return;
	if (atomic_compare_exchange_strong_explicit(
		    &once, &seen, ONCE_RUNNING, memory_order_acquire, memory_order_acquire)) {
		initialise();
		atomic_store_explicit(&once, ONCE_DONE, DONE_ORDER);
		return;
	}
	while (atomic_load_explicit(&once, memory_order_acquire) != ONCE_DONE)
		;
}

static void *use(void *unused)
{
	call_once_only();
	for (int i = 0; i < ENTRIES; i++)
		assert(table[i] == i + 1);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, use, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
