/* A library that raddle-cc has not compiled: accesses that raddle does not see, and calls with and without synchronisation. */
#include "outside_library.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

void library_store(volatile int *at)
{
	*at = 1;
}

int library_load(const volatile int *at)
{
	return *at;
}

int library_compute(const char *text)
{
	return (int)strlen(text);
}

void library_lock(int number)
{
	pthread_mutex_lock(&mutexes[number]);
	pthread_mutex_unlock(&mutexes[number]);
}
