/*
 * Two threads move nodes of a ring to its front. One move in 64 lacks the lock, so that two moves can tear the ring
 * apart: a walk then never returns to the head. Each step of the walk counts, so that no state repeats.
 */
#include <pthread.h>
#include <stdint.h>

#define NODES 8
#define MOVES 600

struct node {
	struct node *next, *previous;
};

static struct node head, nodes[NODES];
static uint64_t visits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void insert_first(struct node *node)
{
	node->next = head.next;
	node->previous = &head;
	head.next->previous = node;
	head.next = node;
}

static void move_to_front(struct node *node)
{
	node->previous->next = node->next;
	node->next->previous = node->previous;
	insert_first(node);
}

static void walk(void)
{
	for (const struct node *node = head.next; node != &head; node = node->next)
		visits++;
}

static void *move(void *argument)
{
	uint64_t random = (uintptr_t)argument;

	for (unsigned i = 1; i <= MOVES; i++) {
		struct node *node;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		node = &nodes[random >> 61];
		if (i % 64) {
			pthread_mutex_lock(&lock);
			move_to_front(node);
			if (i % 8 == 0)
				walk();
			pthread_mutex_unlock(&lock);
		} else {
			move_to_front(node);
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	head.next = head.previous = &head;
	for (unsigned i = 0; i < NODES; i++)
		insert_first(&nodes[i]);
	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, move, (void *)(i + 1)))
			return 2;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
