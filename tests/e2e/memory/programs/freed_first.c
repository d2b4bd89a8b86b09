/* A thread frees a block that main writes afterwards. In half of the schedules the free comes before any access to the
 * block, so that no earlier access shows that two threads use it. */
#include <pthread.h>
#include <stdlib.h>

struct node {
	long value;
};
static struct node *node;

static void *drop(void *argument)
{
	free(node);
	return argument;
}

int main(void)
{
	struct node *own = malloc(sizeof *own);
	pthread_t thread;

	node = own;
	pthread_create(&thread, NULL, drop, NULL);
	own->value = 2;
	pthread_join(thread, NULL);
	return 0;
}
