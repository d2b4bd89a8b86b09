/* EXPECT: abort runs<=2000 options=--memory-model=c11 needs=memory */
/*
 * A pool of workers that take tasks by number, and count those that are done by relaxed updates: the
 * collector sees the last one done, and reads an old result.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define TASKS 3
#define WORKERS 2
#define DONE_ORDER memory_order_relaxed

static int tasks[TASKS], results[TASKS];
static atomic_int submitted, next_task, done;

static void *work(void *unused)
{
	for (;;) {
		int at = atomic_load_explicit(&next_task, memory_order_relaxed);

		if (at == TASKS)
			return unused;
		if (at >= atomic_load_explicit(&submitted, memory_order_acquire) ||
			!atomic_compare_exchange_weak_explicit(&next_task, &at, at + 1,
				memory_order_relaxed, memory_order_relaxed))
			continue;
		results[at] = 10 * tasks[at];
		atomic_fetch_add_explicit(&done, 1, DONE_ORDER);
	}
}

static void submit(void)
{
	for (int i = 0; i < TASKS; i++) {
		tasks[i] = i + 1;
		atomic_store_explicit(&submitted, i + 1, memory_order_release);
	}
}

static void collect(void)
{
	while (atomic_load_explicit(&done, memory_order_acquire) != TASKS)
		;
	for (int i = 0; i < TASKS; i++)
		assert(results[i] == 10 * (i + 1));
}

int main(void)
{
	pthread_t threads[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	submit();
	collect();
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
