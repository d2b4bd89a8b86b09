/* EXPECT: passed runs=20000 */
/*
 * Pattern: one event for all (C11 threads).
 *
 * Two runners wait at a gate that main opens for both.
 *
 * Corrected: the gate wakes all. Cannot fail: a runner sees the open gate, or waits and is woken.
 */
#include <stdbool.h>
#include <stdio.h>
#include <threads.h>

#define RUNNERS 2

static struct {
	mtx_t lock;
	cnd_t opened;
	bool is_open; /* guarded by lock */
	int passed;   /* guarded by lock */
} gate;

static int runner(void *unused)
{
	(void)unused;
	mtx_lock(&gate.lock);
	while (!gate.is_open)
		cnd_wait(&gate.opened, &gate.lock);
	gate.passed++;
	mtx_unlock(&gate.lock);
	return 0;
}

static void open_gate(void)
{
	mtx_lock(&gate.lock);
	gate.is_open = true;
	cnd_broadcast(&gate.opened);
	mtx_unlock(&gate.lock);
}

int main(void)
{
	thrd_t runners[RUNNERS];

	mtx_init(&gate.lock, mtx_plain);
	cnd_init(&gate.opened);
	for (int i = 0; i < RUNNERS; i++)
		thrd_create(&runners[i], runner, NULL);
	open_gate();
	for (int i = 0; i < RUNNERS; i++)
		thrd_join(runners[i], NULL);
	printf("%d runners passed\n", gate.passed);
	cnd_destroy(&gate.opened);
	mtx_destroy(&gate.lock);
	return 0;
}
