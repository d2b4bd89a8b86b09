/* EXPECT: passed runs=2000 needs=memory */
/* The twin of unpublished_init: a thread that finds the structure finds it filled. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct settings {
	int size;
	int limit;
};

static _Atomic(struct settings *) current;

static void *publish(void *unused)
{
	struct settings *settings = malloc(sizeof *settings);

	assert(settings);
	settings->size = 8;
	settings->limit = 16;
	atomic_store(&current, settings);
	return unused;
}

static void *use(void *unused)
{
	const struct settings *settings = atomic_load(&current);

	if (settings)
		assert(settings->limit == 2 * settings->size);
	return unused;
}

int main(void)
{
	pthread_t publisher, user;

	pthread_create(&user, NULL, use, NULL);
	pthread_create(&publisher, NULL, publish, NULL);
	pthread_join(user, NULL);
	pthread_join(publisher, NULL);
	free(atomic_load(&current));
	return 0;
}
