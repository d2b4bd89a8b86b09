/* EXPECT: abort runs<=200 needs=memory */
/*
 * Two words that belong together. Fails: main.0 writes x; main reads both; main.0 writes y.
 */
#include <assert.h>
#include <pthread.h>

struct position {
	volatile int x;
	volatile int y; /* always -x */
};

static struct position position;

static void *move(void *unused)
{
	for (int i = 1; i <= 2; i++) {
		position.x = i;
		position.y = -i;
	}
	return unused;
}

int main(void)
{
	pthread_t other;
	int x, y;

	pthread_create(&other, NULL, move, NULL);
	x = position.x;
	y = position.y;
	pthread_join(other, NULL);
	assert(x == -y);
	return 0;
}
