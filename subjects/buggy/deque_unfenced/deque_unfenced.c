/* EXPECT: abort runs<=5000 options=--memory-model=tso needs=memory */
/*
 * A work-stealing deque after Chase and Lev, without the fence of take(). Fails on x86: the owner's new
 * bottom waits in its store buffer, so the thief sees the old one and takes the same item.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define ITEMS 2
#define NOTHING (-1)

static atomic_int top, bottom;
static int items[ITEMS];
static atomic_int taken[ITEMS];

static void push(int item)
{
	const int at = atomic_load_explicit(&bottom, memory_order_relaxed);

	items[at] = item;
	atomic_store_explicit(&bottom, at + 1, memory_order_release);
}

/* The owner takes the newest item. */
static int take(void)
{
	const int at = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
	int oldest, item = NOTHING;

	atomic_store_explicit(&bottom, at, memory_order_relaxed);
	oldest = atomic_load_explicit(&top, memory_order_relaxed);
	if (oldest < at)
		return items[at];
	if (oldest == at && atomic_compare_exchange_strong(&top, &oldest, oldest + 1))
		item = items[at];
	atomic_store_explicit(&bottom, at + 1, memory_order_relaxed);
	return item;
}

/* A thief takes the oldest item. */
static int steal(void)
{
	int oldest = atomic_load_explicit(&top, memory_order_acquire);
	const int end = atomic_load_explicit(&bottom, memory_order_acquire);
	int item;

	if (oldest >= end)
		return NOTHING;
	item = items[oldest];
	return atomic_compare_exchange_strong(&top, &oldest, oldest + 1) ? item : NOTHING;
}

static void work(int item)
{
	if (item != NOTHING)
		assert(atomic_fetch_add(&taken[item], 1) == 0);
}

static void *thief(void *unused)
{
	for (int i = 0; i < ITEMS; i++)
		work(steal());
	return unused;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < ITEMS; i++)
		push(i);
	pthread_create(&thread, NULL, thief, NULL);
	for (int i = 0; i < ITEMS; i++)
		work(take());
	pthread_join(thread, NULL);
	return 0;
}
