/* EXPECT: passed runs=500 needs=memory */
/* The twin of early_release: a thread gives its reference up after its last use. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define USERS 2

struct pool {
	atomic_int users;
	atomic_int served;
};

static void *serve(void *argument)
{
	struct pool *pool = argument;

	atomic_fetch_add(&pool->served, 1);
	atomic_fetch_sub(&pool->users, 1);
	return NULL;
}

int main(void)
{
	struct pool *pool = malloc(sizeof *pool);
	pthread_t threads[USERS];

	atomic_init(&pool->users, USERS);
	atomic_init(&pool->served, 0);
	for (int i = 0; i < USERS; i++)
		pthread_create(&threads[i], NULL, serve, pool);
	while (atomic_load(&pool->users))
		sched_yield();
	free(pool);
	for (int i = 0; i < USERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
