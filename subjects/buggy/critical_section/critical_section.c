/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: critical section flag (the flag "inside" is tested and then set).
 *
 * Fails when: main.0 finds the printer free; main.1 finds so too and goes in; main.0 enters, and
 * the next test sees two threads inside.
 *
 * EXPECT-BOUNDS: c=2 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 printer.inside @look @enter @enter
 * EXPECT-BRANCH: assert(atomic_load(&printer.inside) == 1); [bug]
 * EXPECT-BRANCH: while (atomic_load(&printer.inside) != 0) [ad hoc synchronisation|bug]
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define CLERKS 3
#define LINES 2

struct printer {
	atomic_int inside; /* clerks, at most one */
	atomic_int lines;
	atomic_int forms;
};

static struct printer printer;

static void printer_acquire(void)
{
	while (atomic_load(&printer.inside) != 0) /* @look */
		sched_yield();
	atomic_fetch_add(&printer.inside, 1); /* @enter */
}

static void printer_release(void)
{
	atomic_fetch_sub(&printer.inside, 1);
}

static void print_line(void)
{
	assert(atomic_load(&printer.inside) == 1);
	atomic_fetch_add(&printer.lines, 1);
}

static void *print_form(void *unused)
{
	printer_acquire();
	for (int i = 0; i < LINES; i++)
		print_line();
	printer_release();
	atomic_fetch_add(&printer.forms, 1);
	return unused;
}

int main(void)
{
	pthread_t clerks[CLERKS];

	for (int i = 0; i < CLERKS; i++)
		pthread_create(&clerks[i], NULL, print_form, NULL);
	for (int i = 0; i < CLERKS; i++)
		pthread_join(clerks[i], NULL);
	assert(atomic_load(&printer.forms) == CLERKS);
	assert(atomic_load(&printer.lines) == CLERKS * LINES);
	return 0;
}
