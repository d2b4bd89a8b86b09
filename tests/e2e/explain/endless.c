/* A waiting thread has announced its wait too late; it then waits for ever, and tests the condition again and again. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_ready, is_late, is_over;

static int look(const int *at)
{
	int value;

	pthread_mutex_lock(&lock);
	value = *at;
	pthread_mutex_unlock(&lock);
	return value;
}

static void *wait_for_it(void *unused)
{
	pthread_mutex_lock(&lock);
	if (!is_ready)
		is_late = 1;
	pthread_mutex_unlock(&lock);
	while (!look(&is_over))
		;
	return unused;
}

static void *give(void *unused)
{
	pthread_mutex_lock(&lock);
	is_ready = 1;
	is_over = !is_late;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t waits, gives;

	pthread_create(&waits, NULL, wait_for_it, NULL);
	pthread_create(&gives, NULL, give, NULL);
	pthread_join(waits, NULL);
	pthread_join(gives, NULL);
	return 0;
}
