/* EXPECT: passed runs=500 needs=memory */
/* The twin of pool_borrow: a connection is marked in one step with the test. */
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
		if (!atomic_exchange(&pool[i].borrowed, true))
			return &pool[i];
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
