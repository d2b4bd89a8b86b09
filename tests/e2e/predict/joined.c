/* The main thread waits for another's end holding a lock that the other may still want. */
#include <pthread.h>

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static int jobs;

static void *work(void *unused)
{
	pthread_mutex_lock(&state);
	jobs++;
	pthread_mutex_unlock(&state);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_mutex_lock(&state);
	pthread_join(thread, NULL);
	jobs++;
	pthread_mutex_unlock(&state);
	return 0;
}
