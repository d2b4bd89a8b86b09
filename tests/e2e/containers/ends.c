/* Ends with status 1, by returning from main, if the thread is first. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int first;

static void *come(void *number)
{
	pthread_mutex_lock(&mutex);
	first = first ? first : *(int *)number;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(void)
{
	int main_number = 1, thread_number = 2;
	pthread_t thread;

	if (pthread_create(&thread, NULL, come, &thread_number))
		return 2;
	(void)come(&main_number);
	pthread_join(thread, NULL);
	return first != 1;
}
