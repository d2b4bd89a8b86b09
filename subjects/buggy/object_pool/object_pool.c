/* EXPECT: abort strategy=surw runs<=2000 */
/*
 * Pattern: object pool that gives an object back too early.
 *
 * A pool of two connections. A connection is offered to others first and wiped second.
 *
 * Fails when: main.0 unlocks the pool in connection_release; main.1 acquires that connection and
 * logs in; main.0 locks the connection to wipe it; main.1 finds itself logged out.
 *
 * EXPECT-BRANCH: assert(connection_set_user(connection, *(int *)user) == *(int *)user); [bug]
 * EXPECT-BRANCH: if (pool[i].is_free) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < CONNECTIONS && !found; i++) [benign|bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define CONNECTIONS 2
#define NOBODY 0

struct connection {
	pthread_mutex_t lock;
	int user;     /* guarded by lock */
	bool is_free; /* guarded by pool_lock */
};

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection pool[CONNECTIONS] = {
	{.lock = PTHREAD_MUTEX_INITIALIZER, .is_free = true},
	{.lock = PTHREAD_MUTEX_INITIALIZER, .is_free = true},
};

static struct connection *connection_acquire(void)
{
	struct connection *found = NULL;

	pthread_mutex_lock(&pool_lock);
	for (int i = 0; i < CONNECTIONS && !found; i++)
		if (pool[i].is_free)
			found = &pool[i];
	if (found)
		found->is_free = false;
	pthread_mutex_unlock(&pool_lock);
	return found;
}

static int connection_set_user(struct connection *connection, int user)
{
	pthread_mutex_lock(&connection->lock);
	int previous = connection->user;
	connection->user = user;
	pthread_mutex_unlock(&connection->lock);
	return previous;
}

static void connection_release(struct connection *connection)
{
	pthread_mutex_lock(&pool_lock);
	connection->is_free = true;
	pthread_mutex_unlock(&pool_lock);
	connection_set_user(connection, NOBODY);
}

static void *client(void *user)
{
	struct connection *connection = connection_acquire();

	assert(connection); /* the pool has as many connections as clients */
	connection_set_user(connection, *(int *)user);
	assert(connection_set_user(connection, *(int *)user) == *(int *)user);
	connection_release(connection);
	return NULL;
}

int main(void)
{
	pthread_t clients[CONNECTIONS];
	int users[CONNECTIONS] = {1, 2};

	for (int i = 0; i < CONNECTIONS; i++)
		pthread_create(&clients[i], NULL, client, &users[i]);
	for (int i = 0; i < CONNECTIONS; i++)
		pthread_join(clients[i], NULL);
	printf("%d clients served\n", CONNECTIONS);
	return 0;
}
