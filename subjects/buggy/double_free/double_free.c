/* EXPECT: double-free runs<=500 needs=memory */
/*
 * A count of references that is read after its decrement. Fails: main takes it down to 1; main.0
 * takes it down to 0; both find 0 and free the message (natively, the C library aborts).
 *
 * EXPECT-BRANCH: if (atomic_load(&message->references) == 0) [bug]
 */
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

	atomic_fetch_sub(&message->references, 1);
	if (atomic_load(&message->references) == 0)
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
