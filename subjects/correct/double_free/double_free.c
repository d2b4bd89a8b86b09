/* EXPECT: passed runs=2000 needs=memory */
/* The twin of double_free: the update from 1 to 0 itself returns this fact. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct message {
	/* The block is so large that the allocator tests whether it was freed before. The count
	 * lies where the allocator does not write at the free. */
	char head[2000];
	atomic_int references;
	char tail[2000];
};

static void *drop(void *argument)
{
	struct message *message = argument;

	if (atomic_fetch_sub(&message->references, 1) == 1)
		free(message);
	return NULL;
}

int main(void)
{
	struct message *message = calloc(1, sizeof *message);
	pthread_t other;

	assert(message);
	message->references = 2;
	pthread_create(&other, NULL, drop, message);
	drop(message);
	pthread_join(other, NULL);
	return 0;
}
