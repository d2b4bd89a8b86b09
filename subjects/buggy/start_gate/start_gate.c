/* EXPECT: lost-wakeup strategy=random runs<=200 */
/*
 * Pattern: signal where a broadcast is due (C11 threads).
 *
 * Two runners wait at a gate that main opens for both, with a signal that wakes one.
 *
 * Fails when: main.0 and main.1 both wait before main locks to open the gate: one of them sleeps
 * on, and main joins it for ever.
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
	cnd_signal(&gate.opened);
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
