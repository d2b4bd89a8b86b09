/* EXPECT: passed runs=2000 needs=memory */
/* The twin of torn_update: both words are written and read under one lock. */
#include <assert.h>
#include <pthread.h>

struct position {
	volatile int x;
	volatile int y; /* always -x */
};

static struct position position;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *move(void *unused)
{
	for (int i = 1; i <= 2; i++) {
		pthread_mutex_lock(&lock);
		position.x = i;
		position.y = -i;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	pthread_t other;
	int x, y;

	pthread_create(&other, NULL, move, NULL);
	pthread_mutex_lock(&lock);
	x = position.x;
	y = position.y;
	pthread_mutex_unlock(&lock);
	pthread_join(other, NULL);
	assert(x == -y);
	return 0;
}
