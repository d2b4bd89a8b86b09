/* Fails where another thread counts between the two critical sections. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

void late_call(void);
void late_call(void)
{
	int before;

	pthread_mutex_lock(&mutex);
	before = ++count;
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	if (count != before)
		abort();
	pthread_mutex_unlock(&mutex);
}
