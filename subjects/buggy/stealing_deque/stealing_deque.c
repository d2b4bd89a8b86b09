/* EXPECT: abort runs<=2000 needs=memory */
/*
 * A work-stealing queue whose owner takes the last task without asking. Fails: main finds one task left;
 * a thief has read its number and moves top; both run it.
 *
 * EXPECT-BRANCH: if (first < atomic_load(&bottom)) { [bug]
 * EXPECT-BRANCH: if (first < last) { [bug]
 * EXPECT-BRANCH: if (first == last) [benign|bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define TASKS 2

/* The owner works at the bottom, thieves at the top. */
static atomic_int top, bottom;
static int tasks[TASKS];
static atomic_int done[TASKS];

static void run(int task)
{
	atomic_fetch_add(&done[task], 1);
}

static void push(int task)
{
	tasks[atomic_load(&bottom)] = task;
	atomic_fetch_add(&bottom, 1);
}

static void take(void)
{
	const int last = atomic_fetch_sub(&bottom, 1) - 1;
	int first = atomic_load(&top);

	if (first < last) {
		run(tasks[last]);
		return;
	}
	if (first == last)
		run(tasks[last]);
	atomic_store(&bottom, last + 1);
}

static void *steal(void *unused)
{
	int first = atomic_load(&top);

	if (first < atomic_load(&bottom)) {
		const int task = tasks[first];

		if (atomic_compare_exchange_strong(&top, &first, first + 1))
			run(task);
	}
	return unused;
}

int main(void)
{
	pthread_t thieves[2];

	for (int i = 0; i < TASKS; i++)
		push(i);
	for (int i = 0; i < 2; i++)
		pthread_create(&thieves[i], NULL, steal, NULL);
	for (int i = 0; i < TASKS; i++)
		take();
	for (int i = 0; i < 2; i++)
		pthread_join(thieves[i], NULL);
	for (int i = 0; i < TASKS; i++)
		assert(done[i] == 1);
	return 0;
}
