/*
 * Threads take locks that they hold: all but the first a recursive mutex, and inside of it a read-write lock for
 * reading. The first one writes. (n - 1)! orders of the mutex, times n places of the writer: n! traces.
 */
#define _GNU_SOURCE
#include "scaling.h"

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *read_twice(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&mutex);
	pthread_rwlock_rdlock(&lock);
	pthread_rwlock_rdlock(&lock);
	pthread_rwlock_unlock(&lock);
	pthread_rwlock_unlock(&lock);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *body(void *number)
{
	if (number)
		return read_twice();
	pthread_rwlock_wrlock(&lock);
	pthread_rwlock_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	run_threads(thread_count(argc, argv), body);
	return 0;
}
