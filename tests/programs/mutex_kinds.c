/* EXPECT: passed runs=50 */
/*
 * The kinds of mutexes: what lock, trylock and unlock answer to their owner and to others.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "check.h"

static void *try_lock(void *mutex)
{
	int result = pthread_mutex_trylock(mutex);

	if (result == 0)
		pthread_mutex_unlock(mutex);
	return (void *)(intptr_t)result;
}

static void *unlock(void *mutex)
{
	return (void *)(intptr_t)pthread_mutex_unlock(mutex);
}

static int by_another(void *(*start)(void *), pthread_mutex_t *mutex)
{
	pthread_t thread;
	void *result;

	MUST(pthread_create(&thread, NULL, start, mutex) == 0);
	MUST(pthread_join(thread, &result) == 0);
	return (int)(intptr_t)result;
}

static void make(pthread_mutex_t *mutex, int kind)
{
	pthread_mutexattr_t attributes;
	int found;

	MUST(pthread_mutexattr_init(&attributes) == 0);
	CHECK(pthread_mutexattr_settype(&attributes, kind) == 0);
	CHECK(pthread_mutexattr_gettype(&attributes, &found) == 0 && found == kind);
	CHECK(pthread_mutex_init(mutex, &attributes) == 0);
	MUST(pthread_mutexattr_destroy(&attributes) == 0);
}

static void check_normal(int kind)
{
	pthread_mutex_t mutex;

	make(&mutex, kind);
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
	CHECK(by_another(try_lock, &mutex) == EBUSY);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(by_another(try_lock, &mutex) == 0);
	CHECK(pthread_mutex_trylock(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_mutex_destroy(&mutex) == 0);
}

static void check_recursive(void)
{
	pthread_mutex_t mutex;

	make(&mutex, PTHREAD_MUTEX_RECURSIVE);
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_trylock(&mutex) == 0);
	CHECK(by_another(try_lock, &mutex) == EBUSY);
	CHECK(by_another(unlock, &mutex) == EPERM);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(by_another(try_lock, &mutex) == EBUSY);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(by_another(try_lock, &mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == EPERM);
	CHECK(pthread_mutex_destroy(&mutex) == 0);
}

static void check_errorcheck(void)
{
	pthread_mutex_t mutex;

	make(&mutex, PTHREAD_MUTEX_ERRORCHECK);
	CHECK(pthread_mutex_unlock(&mutex) == EPERM);
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
	CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
	CHECK(by_another(try_lock, &mutex) == EBUSY);
	CHECK(by_another(unlock, &mutex) == EPERM);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(by_another(try_lock, &mutex) == 0);
	CHECK(pthread_mutex_destroy(&mutex) == 0);
}

static void check_static(void)
{
	static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
	static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

	CHECK(pthread_mutex_lock(&normal) == 0 && pthread_mutex_trylock(&normal) == EBUSY);
	CHECK(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_trylock(&recursive) == 0);
	CHECK(pthread_mutex_lock(&errorcheck) == 0 && pthread_mutex_lock(&errorcheck) == EDEADLK);
	CHECK(pthread_mutex_lock(&adaptive) == 0 && pthread_mutex_trylock(&adaptive) == EBUSY);
	CHECK(pthread_mutex_unlock(&normal) == 0);
	CHECK(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
	CHECK(pthread_mutex_unlock(&errorcheck) == 0);
	CHECK(pthread_mutex_unlock(&adaptive) == 0);
}

static void check_attributes(void)
{
	pthread_mutexattr_t attributes;
	int value;

	CHECK(pthread_mutexattr_init(&attributes) == 0);
	CHECK(pthread_mutexattr_gettype(&attributes, &value) == 0);
	CHECK(value == PTHREAD_MUTEX_DEFAULT);
	CHECK(pthread_mutexattr_settype(&attributes, 99) == EINVAL);
	CHECK(pthread_mutexattr_getpshared(&attributes, &value) == 0);
	CHECK(value == PTHREAD_PROCESS_PRIVATE);
	CHECK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
	CHECK(pthread_mutexattr_setpshared(&attributes, 99) == EINVAL);
	CHECK(pthread_mutexattr_getrobust(&attributes, &value) == 0);
	CHECK(value == PTHREAD_MUTEX_STALLED);
	CHECK(pthread_mutexattr_setrobust(&attributes, 99) == EINVAL);
	CHECK(pthread_mutexattr_getprotocol(&attributes, &value) == 0);
	CHECK(value == PTHREAD_PRIO_NONE);
	CHECK(pthread_mutexattr_destroy(&attributes) == 0);
}

int main(void)
{
	check_normal(PTHREAD_MUTEX_NORMAL);
	check_normal(PTHREAD_MUTEX_DEFAULT);
	check_normal(PTHREAD_MUTEX_ADAPTIVE_NP);
	check_recursive();
	check_errorcheck();
	check_static();
	check_attributes();
	return check_status();
}
