/* EXPECT: passed runs=50 */
/*
 * Thread-specific values: private to each thread. Destructors run at every kind of thread end,
 * again and again while they leave values behind, but not for ever.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

#include "check.h"

static pthread_key_t plain, stubborn, chained;
static int plain_destroyed, stubborn_destroyed, chained_destroyed;
static int value;

static void destroy_plain(void *found)
{
	plain_destroyed += found == &value && pthread_getspecific(plain) == NULL;
}

static void destroy_stubborn(void *found)
{
	stubborn_destroyed++;
	pthread_setspecific(stubborn, found);
}

/* Sets a value of another key, which must then be destroyed in the next round. */
static void destroy_chained(void *found)
{
	chained_destroyed++;
	pthread_setspecific(plain, found);
}

static void *return_with_plain(void *unused)
{
	(void)unused;
	pthread_setspecific(plain, &value);
	return pthread_getspecific(plain);
}

static void *exit_with_plain(void *unused)
{
	(void)unused;
	pthread_setspecific(plain, &value);
	pthread_exit(&value);
}

static void *be_cancelled_with_plain(void *unused)
{
	sem_t never_posted;

	(void)unused;
	pthread_setspecific(plain, &value);
	sem_init(&never_posted, 0, 0);
	sem_wait(&never_posted);
	return NULL;
}

static void *set_stubborn(void *unused)
{
	(void)unused;
	pthread_setspecific(stubborn, &value);
	return NULL;
}

static void *set_chained(void *unused)
{
	(void)unused;
	pthread_setspecific(chained, &value);
	return pthread_getspecific(plain);
}

static void *set_and_clear(void *unused)
{
	(void)unused;
	pthread_setspecific(plain, &value);
	pthread_setspecific(plain, NULL);
	return NULL;
}

static void *run(void *(*start)(void *), int cancel)
{
	pthread_t thread;
	void *result;

	MUST(pthread_create(&thread, NULL, start, NULL) == 0);
	if (cancel)
		MUST(pthread_cancel(thread) == 0);
	MUST(pthread_join(thread, &result) == 0);
	return result;
}

static void check_deleted(void)
{
	pthread_key_t key;

	CHECK(pthread_key_create(&key, NULL) == 0);
	CHECK(pthread_getspecific(key) == NULL);
	CHECK(pthread_setspecific(key, &value) == 0);
	CHECK(pthread_getspecific(key) == &value);
	CHECK(pthread_key_delete(key) == 0);
	CHECK(pthread_key_delete(key) == EINVAL);
	CHECK(pthread_setspecific(key, &value) == EINVAL);
	CHECK(pthread_key_create(&key, NULL) == 0);
	CHECK(pthread_getspecific(key) == NULL);
	CHECK(pthread_key_delete(key) == 0);
}

int main(void)
{
	CHECK(pthread_key_create(&plain, destroy_plain) == 0);
	CHECK(pthread_key_create(&stubborn, destroy_stubborn) == 0);
	CHECK(pthread_key_create(&chained, destroy_chained) == 0);

	CHECK(run(return_with_plain, 0) == &value);
	CHECK(plain_destroyed == 1);
	CHECK(run(exit_with_plain, 0) == &value);
	CHECK(plain_destroyed == 2);
	CHECK(run(be_cancelled_with_plain, 1) == PTHREAD_CANCELED);
	CHECK(plain_destroyed == 3);
	CHECK(run(set_and_clear, 0) == NULL);
	CHECK(plain_destroyed == 3);
	CHECK(pthread_getspecific(plain) == NULL);

	CHECK(run(set_stubborn, 0) == NULL);
	CHECK(stubborn_destroyed == PTHREAD_DESTRUCTOR_ITERATIONS);
	CHECK(run(set_chained, 0) == NULL);
	CHECK(chained_destroyed == 1);
	CHECK(plain_destroyed == 4);
	check_deleted();
	return check_status();
}
