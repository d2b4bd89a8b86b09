/* A library whose functions are called while it is unloaded. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

void *sleeps(void *unused)
{
	usleep(1000);
	count++;
	return unused;
}

void *locks(void *unused)
{
	pthread_mutex_lock(&lock);
	count++;
	pthread_mutex_unlock(&lock);
	return unused;
}
