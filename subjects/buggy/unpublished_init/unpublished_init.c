/* EXPECT: abort runs<=500 needs=memory */
/*
 * A structure is published before it is filled. Fails: main.1 publishes it and sets size; main.0 finds
 * it and reads both fields before main.1 has set limit.
 */
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
	settings->limit = 0;
	atomic_store(&current, settings);
	settings->size = 8;
	settings->limit = 16;
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
