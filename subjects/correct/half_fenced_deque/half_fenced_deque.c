/* EXPECT: passed runs=2000 options=--memory-model=c11 needs=memory */
/* The twin of half_fenced_deque: a sequentially consistent fence orders the two loads of the thief. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define ITEMS 3
#define NOTHING (-1)

static atomic_int top, bottom;
static atomic_int items[ITEMS], taken[ITEMS];

static int take(void)
{
	const int at = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
	int oldest, item = NOTHING;

	atomic_store_explicit(&bottom, at, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	oldest = atomic_load_explicit(&top, memory_order_relaxed);
	if (oldest < at)
		return atomic_load_explicit(&items[at], memory_order_relaxed);
	if (oldest == at && atomic_compare_exchange_strong(&top, &oldest, oldest + 1))
		item = atomic_load_explicit(&items[at], memory_order_relaxed);
	atomic_store_explicit(&bottom, at + 1, memory_order_relaxed);
	return item;
}

static int steal(void)
{
	int oldest = atomic_load_explicit(&top, memory_order_acquire);
	int end, item;

	atomic_thread_fence(memory_order_seq_cst);
	end = atomic_load_explicit(&bottom, memory_order_acquire);
	if (oldest >= end)
		return NOTHING;
	item = atomic_load_explicit(&items[oldest], memory_order_relaxed);
	return atomic_compare_exchange_strong(&top, &oldest, oldest + 1) ? item : NOTHING;
}

static void work(int item)
{
	if (item != NOTHING)
		assert(atomic_fetch_add(&taken[item], 1) == 0);
}

static void *own(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		atomic_store_explicit(&items[i], i, memory_order_relaxed);
		atomic_store_explicit(&bottom, i + 1, memory_order_release);
	}
	for (int i = 0; i < ITEMS; i++)
		work(take());
	return unused;
}

static void *thief(void *unused)
{
	for (int i = 0; i < ITEMS; i++)
		work(steal());
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, own, NULL);
	pthread_create(&threads[1], NULL, thief, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
