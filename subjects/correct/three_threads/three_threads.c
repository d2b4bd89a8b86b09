/* EXPECT: passed runs=500 needs=memory */
/* The twin of three_threads: the thread that sets x and y checks them before the others continue. */
#include <assert.h>
#include <pthread.h>

static volatile int x, y;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *change_to_two(void *unused)
{
	pthread_mutex_lock(&lock);
	if (x == 1)
		x = 2;
	if (y == 1)
		y = 2;
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *change_to_three(void *unused)
{
	pthread_mutex_lock(&lock);
	if (x == 1)
		x = 3;
	if (y == 1)
		y = 3;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t two, three;

	pthread_create(&two, NULL, change_to_two, NULL);
	pthread_create(&three, NULL, change_to_three, NULL);
	pthread_mutex_lock(&lock);
	if (x == 0)
		x = 1;
	if (y == 0)
		y = 1;
	const int is_failure = x == 2 && y == 2;
	pthread_mutex_unlock(&lock);

	pthread_join(two, NULL);
	pthread_join(three, NULL);
	assert(!is_failure);
	return 0;
}
