/* Blocks of the heap whose type stands at the allocation, beside pointers to other structs; each race shows a label. */
#include <pthread.h>
#include <stdlib.h>

typedef struct {
	long x, y;
} Point;
struct stream {
	long position;
};
struct node {
	struct node *next;
	long key;
};

static Point *points;
static struct node *first;
static long *numbers;
static unsigned char *bytes;

static void *allocate(size_t size)
{
	return malloc(size);
}

/* `stream` is of a size that divides those of all blocks. */
static void fill(struct stream *stream)
{
	struct node *node;

	points = (Point *)malloc(2 * sizeof(Point));
	node = allocate(sizeof *node);
	first = node;
	bytes = allocate(24 + (size_t)stream->position);
	numbers = allocate(5 * sizeof *numbers);
}

static void *change(void *unused)
{
	switch (BLOCK) {
	case 1:
		points[1].y++;
		break;
	case 2:
		first->key++;
		break;
	case 3:
		*(long *)(bytes + 16) += 1;
		break;
	}
	return unused;
}

int main(void)
{
	struct stream stream = {0};
	pthread_t threads[2];

	fill(&stream);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, change, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(points);
	free(first);
	free(numbers);
	free(bytes);
	return 0;
}
