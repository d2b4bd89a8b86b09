/* EXPECT: abort runs<=100 needs=memory */
/*
 * A lock protects one bit field, and the bit field beside it needs none, as it seems. Fails: main.0 reads the
 * byte of both, main.1 clears is_open, and main.0 writes the byte back with is_open set.
 */
#include <assert.h>
#include <pthread.h>

/* Both fields lie in one byte. */
static struct {
	unsigned char is_open : 1;
	unsigned char users : 7;
} door = {.is_open = 1};
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;

static void *enter(void *unused)
{
	pthread_mutex_lock(&users_lock);
	door.users++;
	pthread_mutex_unlock(&users_lock);
	return unused;
}

static void *close_door(void *unused)
{
	door.is_open = 0;
	return unused;
}

int main(void)
{
	pthread_t visitor, porter;

	pthread_create(&visitor, NULL, enter, NULL);
	pthread_create(&porter, NULL, close_door, NULL);
	pthread_join(visitor, NULL);
	pthread_join(porter, NULL);
	assert(!door.is_open && door.users == 1);
	return 0;
}
