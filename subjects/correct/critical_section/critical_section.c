/* EXPECT: passed runs=500 needs=memory */
/* The twin of critical_section: a clerk enters only if no other has entered since its test. */
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
	int nobody = 0;

	while (!atomic_compare_exchange_weak(&printer.inside, &nobody, 1)) {
		nobody = 0;
		sched_yield();
	}
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
