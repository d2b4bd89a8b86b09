/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: object pool, the first bug (an object is borrowed by a test and a mark).
 *
 * Fails when: main.0 finds connection 0 idle; main.1 finds it idle, too, and marks it; main.0 marks
 * it as well. Two clients have one connection, and it is returned twice.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 pool[0].borrowed @idle @mark @mark
 * EXPECT-BRANCH: assert(was_borrowed); [bug]
 * EXPECT-BRANCH: if (!atomic_load(&pool[i].borrowed)) { [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define CONNECTIONS 3
#define CLIENTS 3

struct connection {
	atomic_bool borrowed;
	atomic_int questions;
};

static struct connection pool[CONNECTIONS];
static atomic_int answers;

static struct connection *pool_borrow(void)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		if (!atomic_load(&pool[i].borrowed)) {	       /* @idle */
			atomic_store(&pool[i].borrowed, true); /* @mark */
			return &pool[i];
		}
	}
	return NULL;
}

static void pool_return(struct connection *connection)
{
	const bool was_borrowed = atomic_exchange(&connection->borrowed, false);

	assert(was_borrowed);
}

static void ask(struct connection *connection)
{
	atomic_fetch_add(&connection->questions, 1);
	atomic_fetch_add(&answers, 1);
}

/* A client keeps its connection for its whole life. */
static void *be_client(void *unused)
{
	struct connection *connection = pool_borrow();

	(void)unused;
	assert(connection);
	ask(connection);
	return connection;
}

int main(void)
{
	pthread_t clients[CLIENTS];

	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&clients[i], NULL, be_client, NULL);
	for (int i = 0; i < CLIENTS; i++) {
		void *connection;

		pthread_join(clients[i], &connection);
		pool_return(connection);
	}
	assert(atomic_load(&answers) == CLIENTS);
	return 0;
}
