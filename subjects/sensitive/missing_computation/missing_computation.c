/*
 * EXPECT-BRANCH: if (is_there) [bug]
 *
 * The example of a missing computation: a result is made only if the input is present in time. If
 * it is missing, nothing fails at once, but a check at the end fails.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_there;
static int input, result;

static void *compute(void *unused)
{
	pthread_mutex_lock(&lock);
	if (is_there)
		result = 2 * input;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, compute, NULL);
	pthread_mutex_lock(&lock);
	input = 21;
	is_there = true;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	assert(result == 42);
	return 0;
}
