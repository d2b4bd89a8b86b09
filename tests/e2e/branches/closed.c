/*
 * Only one byte of the word that shows that the pool is closed was ever written: a thread that reads before
 * the pool is closed finds the initial value, not the value of the run. All counting precedes the closing: the
 * other condition depends on no schedule. The run is long enough for orders that are tried without a solver.
 */
#include <pthread.h>
#include <stdbool.h>

#define ROUNDS 200

struct pool {
	pthread_mutex_t lock;
	long count;
	bool is_closed;
};

static void *look(void *argument)
{
	struct pool *pool = argument;
	long found = 0;

	pthread_mutex_lock(&pool->lock);
	if (pool->is_closed) { /* sensitive */
		if (pool->count != ROUNDS)
			found++;
	}
	pthread_mutex_unlock(&pool->lock);
	return (void *)found;
}

int main(void)
{
	pthread_t looker;
	struct pool pool;
	void *found;

	pthread_mutex_init(&pool.lock, NULL);
	pool.count = 0;
	pool.is_closed = false;
	if (pthread_create(&looker, NULL, look, &pool))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&pool.lock);
		pool.count++;
		pthread_mutex_unlock(&pool.lock);
	}
	pthread_mutex_lock(&pool.lock);
	pool.is_closed = true;
	pthread_mutex_unlock(&pool.lock);
	pthread_join(looker, &found);
	return found != NULL;
}
