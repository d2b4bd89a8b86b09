/*
 * Writes to where shared memory says: those that are marked write to nothing under another schedule.
 */
#include <pthread.h>
#include <stddef.h>

struct node {
	int first, value;
};

static int number, *place = &number;
static struct node one, *head = &one;

static void *serve(void *unused)
{
	place = NULL;
	head = NULL;
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	*place = 1;	 /* sensitive */
	head->value = 2; /* sensitive */
	return pthread_join(thread, NULL);
}
