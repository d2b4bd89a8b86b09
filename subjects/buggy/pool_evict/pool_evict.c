/* EXPECT: abort runs<=300 needs=memory */
/*
 * Pattern: object pool, the second bug (an idle connection is found and destroyed in two steps).
 *
 * Fails when: main.1, which clears the pool of idle connections, finds one idle; main.0 borrows it;
 * main.1 marks it as destroyed, and main.0 uses a destroyed connection.
 *
 * EXPECT-PATTERN: R1-W2-W1 pool[0].state @is_idle @borrow @destroy
 * EXPECT-BRANCH: if (atomic_compare_exchange_strong(&pool[i].state, &idle, BORROWED)) [benign|bug]
 * EXPECT-BRANCH: return atomic_compare_exchange_strong(&connection->state, &borrowed, IDLE); [bug]
 * EXPECT-BRANCH: if (atomic_load(&pool[i].state) == IDLE) [benign|bug]
 * EXPECT-BRANCH: assert(client.broken == 0); [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define CONNECTIONS 2

enum state { IDLE, BORROWED, DESTROYED };

struct connection {
	atomic_int state; /* enum state */
};

struct client {
	int refused, answered, broken;
};

static struct connection pool[CONNECTIONS];

static struct connection *pool_borrow(void)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		int idle = IDLE;

		if (atomic_compare_exchange_strong(&pool[i].state, &idle, BORROWED)) /* @borrow */
			return &pool[i];
	}
	return NULL;
}

static bool pool_return(struct connection *connection)
{
	int borrowed = BORROWED;

	return atomic_compare_exchange_strong(&connection->state, &borrowed, IDLE);
}

static void pool_evict(void)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		if (atomic_load(&pool[i].state) == IDLE)	 /* @is_idle */
			atomic_store(&pool[i].state, DESTROYED); /* @destroy */
	}
}

static void *ask_twice(void *argument)
{
	struct client *const client = argument;

	for (int i = 0; i < 2; i++) {
		struct connection *connection = pool_borrow();

		if (!connection)
			client->refused++;
		else if (pool_return(connection))
			client->answered++;
		else
			client->broken++;
	}
	return NULL;
}

static void *clean_up(void *unused)
{
	pool_evict();
	return unused;
}

int main(void)
{
	struct client client = {0};
	pthread_t asker, cleaner;

	pthread_create(&asker, NULL, ask_twice, &client);
	pthread_create(&cleaner, NULL, clean_up, NULL);
	pthread_join(asker, NULL);
	pthread_join(cleaner, NULL);
	assert(client.refused + client.answered + client.broken == 2);
	assert(client.broken == 0);
	return 0;
}
