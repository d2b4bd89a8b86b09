/* Heap blocks that are longer than their types: the arrays at the end of these have as many elements as the block has
 * room for. Two threads count in both blocks without a lock. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define LENGTH 21

struct entry { /* as in programs older than C99 */
	int uses;
	unsigned length;
	char key[1];
};

struct message {
	long number;
	int marks[];
};

static struct entry *entry;
static struct message *message;

static void *use(void *unused)
{
	const int uses = entry->uses;

	message->marks[5]++;
	entry->key[12]++;
	entry->uses = uses + 1;
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	entry = (struct entry *)calloc(1, sizeof *entry - 1 + LENGTH);
	message = calloc(1, sizeof(struct message) + LENGTH * sizeof(int));
	if (!entry || !message)
		return 0;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, use, NULL))
			return 0;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(entry->uses == 2);
	return 0;
}
