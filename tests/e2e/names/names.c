/*
 * Threads that share memory of every kind, without locks, and a heap that grows by megabytes within
 * a run. An update is lost easily: the test examines the words of the finding.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

struct node {
	struct node *next;
	long value;
	char filling[480];
};

static struct node *head;
static long total;
static __thread long seen;
static long *mapped;

struct work {
	struct node *nodes;
	long *seen;
	int rounds;
};

static void push(struct node *node, long value)
{
	node->value = value;
	node->next = head;
	if (head)
		head->value++;
	head = node;
}

/* Allocates so many blocks that the heap grows, and that freed blocks are allocated again. */
static struct node *churn(int rounds)
{
	struct node *kept = NULL;

	for (int i = 0; i < rounds; i++) {
		struct node *node = malloc(sizeof *node);

		node->next = i % 2 ? kept : NULL;
		if (i % 3)
			free(node);
		else
			kept = node;
	}
	return malloc(sizeof *kept);
}

static void *work(void *argument)
{
	struct work *work = argument;
	struct node *node = churn(work->rounds);

	push(node, 3);
	work->nodes[1].value += node->value;
	total++;
	mapped[5]++;
	*work->seen += 2;
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	struct work work_of[3];

	mapped = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	work_of[0].nodes = calloc(2, sizeof *work_of[0].nodes);
	for (int i = 0; i < 3; i++) {
		work_of[i] = (struct work){work_of[0].nodes, &seen, 1000 * i + 5000};
		pthread_create(&threads[i], NULL, work, &work_of[i]);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	if (total != 3 || work_of[0].nodes[1].value != 9 || seen != 6 || mapped[5] != 3)
		abort();
	return 0;
}
