/*
 * EXPECT-BRANCH: if (!atomic_load(&is_closed)) { [benign|bug]
 * EXPECT-BRANCH: assert(destroyed == 1); [bug]
 *
 * Object pool, the fourth bug (the others: pool_borrow, pool_evict, object_pool): an object that is
 * returned after the pool was closed stays in it, and is never destroyed.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_closed;
static int idle, destroyed;

static void give_back(void)
{
	if (!atomic_load(&is_closed)) {
		pthread_mutex_lock(&lock);
		idle++;
		pthread_mutex_unlock(&lock);
	} else {
		pthread_mutex_lock(&lock);
		destroyed++;
		pthread_mutex_unlock(&lock);
	}
}

static void *use(void *unused)
{
	give_back();
	return unused;
}

int main(void)
{
	pthread_t user;

	pthread_create(&user, NULL, use, NULL);
	atomic_store(&is_closed, true);
	pthread_mutex_lock(&lock);
	destroyed += idle;
	idle = 0;
	pthread_mutex_unlock(&lock);
	pthread_join(user, NULL);
	assert(destroyed == 1);
	return 0;
}
