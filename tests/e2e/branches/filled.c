/*
 * Functions of the library fill memory that the thread's own code wrote before, and that code
 * writes the same values later: no condition depends on the schedule.
 */
#include <pthread.h>
#include <stdlib.h>

struct worker {
	pthread_t id;
};

static struct worker *worker;
static volatile int seen;

static void *look(void *unused)
{
	if (worker->id == 7)
		seen++;
	return unused;
}

int main(void)
{
	pthread_t id;

	worker = malloc(sizeof *worker);
	if (!worker)
		return 1;
	worker->id = 0;
	if (pthread_create(&worker->id, NULL, look, NULL))
		return 1;
	id = worker->id;
	if (!id)
		seen++;
	worker->id = 0;
	worker->id = id;
	(void)pthread_join(id, NULL);
	return seen;
}
