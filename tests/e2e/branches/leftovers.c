/*
 * The recorded run itself reads freed memory. No write of the run explains the allocator's value
 * there; this is no defect of the model. Any run that should show the other side of `if (is_late)`
 * uses the memory too late before that branch. This is a failure of the program, and reported as one.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

static long *_Atomic price;
static sem_t is_closed;
static atomic_int is_late;

static void *close_it(void *unused)
{
	long *mine = malloc(4 * sizeof *mine);

	if (!mine)
		exit(2);
	*mine = 8;
	price = mine;
	free(mine);
	(void)sem_post(&is_closed);
	is_late = 1;
	return unused;
}

int main(void)
{
	pthread_t closer;
	int found = 0;

	if (sem_init(&is_closed, 0, 0) || pthread_create(&closer, NULL, close_it, NULL))
		return 1;
	(void)sem_wait(&is_closed);
	if (*price == 8)
		found++;
	if (is_late)
		found++;
	pthread_join(closer, NULL);
	return found > 2;
}
