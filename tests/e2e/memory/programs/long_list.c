/* Of a list's removals each fiftieth takes no lock. Which access meets a freed node first depends on the schedule. */
#include <pthread.h>
#include <stdlib.h>

#define STEPS 1000
#define THREADS 3

struct node {
	struct node *next, *prev;
	long values[4];
};

static struct node list = {&list, &list, {0}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void link_node(struct node *node)
{
	node->next = list.next;
	node->prev = &list;
	list.next->prev = node;
	list.next = node;
}

static void unlink_node(struct node *node)
{
	node->next->prev = node->prev;
	node->prev->next = node->next;
}

static void *work(void *argument)
{
	for (long i = 0; i < STEPS; i++) {
		struct node *node = malloc(sizeof *node);

		for (int j = 0; j < 4; j++)
			node->values[j] = i;
		pthread_mutex_lock(&lock);
		link_node(node);
		pthread_mutex_unlock(&lock);
		if (i % 50 != 25)
			pthread_mutex_lock(&lock);
		unlink_node(node);
		if (i % 50 != 25)
			pthread_mutex_unlock(&lock);
		free(node);
	}
	return argument;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
