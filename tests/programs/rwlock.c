/* EXPECT: passed runs=50 */
/*
 * Read-write locks: which threads hold the lock together, timed variants, own recursion, and both preferences.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "check.h"

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *try_read(void *lock)
{
	int result = pthread_rwlock_tryrdlock(lock);

	if (result == 0)
		pthread_rwlock_unlock(lock);
	return (void *)(intptr_t)result;
}

static void *try_write(void *lock)
{
	int result = pthread_rwlock_trywrlock(lock);

	if (result == 0)
		pthread_rwlock_unlock(lock);
	return (void *)(intptr_t)result;
}

static void *write_once(void *lock)
{
	int result = pthread_rwlock_wrlock(lock);

	if (result == 0)
		pthread_rwlock_unlock(lock);
	return (void *)(intptr_t)result;
}

static int by_another(void *(*start)(void *), pthread_rwlock_t *lock)
{
	pthread_t thread;
	void *result;

	MUST(pthread_create(&thread, NULL, start, lock) == 0);
	MUST(pthread_join(thread, &result) == 0);
	return (int)(intptr_t)result;
}

static void check_sharing(void)
{
	CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
	CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
	CHECK(by_another(try_read, &rwlock) == 0);
	CHECK(by_another(try_write, &rwlock) == EBUSY);
	CHECK(pthread_rwlock_unlock(&rwlock) == 0);
	CHECK(by_another(try_write, &rwlock) == EBUSY);
	CHECK(pthread_rwlock_unlock(&rwlock) == 0);
	CHECK(by_another(try_write, &rwlock) == 0);

	CHECK(pthread_rwlock_wrlock(&rwlock) == 0);
	CHECK(by_another(try_read, &rwlock) == EBUSY);
	CHECK(by_another(try_write, &rwlock) == EBUSY);
	CHECK(pthread_rwlock_trywrlock(&rwlock) == EBUSY);
	CHECK(pthread_rwlock_tryrdlock(&rwlock) == EBUSY);
	CHECK(pthread_rwlock_wrlock(&rwlock) == EDEADLK);
	CHECK(pthread_rwlock_rdlock(&rwlock) == EDEADLK);
	CHECK(pthread_rwlock_unlock(&rwlock) == 0);
	CHECK(by_another(try_read, &rwlock) == 0);
}

static void *timed_waits(void *unused)
{
	struct timespec past = time_in(CLOCK_REALTIME, -1000);
	struct timespec soon = time_in(CLOCK_REALTIME, 20);
	struct timespec wrong = {.tv_sec = soon.tv_sec + 10, .tv_nsec = 1000000000};

	(void)unused;
	CHECK(pthread_rwlock_timedrdlock(&rwlock, &past) == ETIMEDOUT);
	CHECK(pthread_rwlock_timedwrlock(&rwlock, &past) == ETIMEDOUT);
	CHECK(pthread_rwlock_timedrdlock(&rwlock, &wrong) == EINVAL);
	CHECK(pthread_rwlock_timedwrlock(&rwlock, &wrong) == EINVAL);
	CHECK(pthread_rwlock_timedrdlock(&rwlock, &soon) == ETIMEDOUT);
	CHECK(is_reached(CLOCK_REALTIME, &soon));
	soon = time_in(CLOCK_MONOTONIC, 20);
	CHECK(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	soon = time_in(CLOCK_MONOTONIC, 20);
	CHECK(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
	CHECK(pthread_rwlock_clockrdlock(&rwlock, CLOCK_PROCESS_CPUTIME_ID, &soon) == EINVAL);
	return NULL;
}

static void check_timed(void)
{
	struct timespec past = time_in(CLOCK_REALTIME, -1000);
	pthread_t thread;

	MUST(pthread_rwlock_wrlock(&rwlock) == 0);
	MUST(pthread_create(&thread, NULL, timed_waits, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	MUST(pthread_rwlock_unlock(&rwlock) == 0);
	CHECK(pthread_rwlock_timedrdlock(&rwlock, &past) == 0);
	CHECK(pthread_rwlock_unlock(&rwlock) == 0);
	CHECK(pthread_rwlock_timedwrlock(&rwlock, &past) == 0);
	CHECK(pthread_rwlock_unlock(&rwlock) == 0);
}

/* Read-locks until a waiting writer keeps new readers out; the writer may be slow to arrive. */
static int is_kept_out_by_writer(pthread_rwlock_t *lock)
{
	struct timespec pause = {.tv_nsec = 1000000};

	while (by_another(try_read, lock) == 0)
		nanosleep(&pause, NULL);
	return by_another(try_read, lock) == EBUSY;
}

static void check_preference(int kind, int has_writer_precedence)
{
	pthread_rwlockattr_t attributes;
	pthread_rwlock_t lock;
	pthread_t writer;
	void *result;
	int found;

	MUST(pthread_rwlockattr_init(&attributes) == 0);
	CHECK(pthread_rwlockattr_setkind_np(&attributes, kind) == 0);
	CHECK(pthread_rwlockattr_getkind_np(&attributes, &found) == 0 && found == kind);
	MUST(pthread_rwlock_init(&lock, &attributes) == 0);
	MUST(pthread_rwlockattr_destroy(&attributes) == 0);

	MUST(pthread_rwlock_rdlock(&lock) == 0);
	MUST(pthread_create(&writer, NULL, write_once, &lock) == 0);
	if (has_writer_precedence)
		CHECK(is_kept_out_by_writer(&lock));
	else
		CHECK(by_another(try_read, &lock) == 0);
	MUST(pthread_rwlock_unlock(&lock) == 0);
	MUST(pthread_join(writer, &result) == 0);
	CHECK(result == NULL);
	CHECK(pthread_rwlock_destroy(&lock) == 0);
}

static void check_attributes(void)
{
	pthread_rwlockattr_t attributes;
	int value;

	CHECK(pthread_rwlockattr_init(&attributes) == 0);
	CHECK(pthread_rwlockattr_getkind_np(&attributes, &value) == 0);
	CHECK(value == PTHREAD_RWLOCK_DEFAULT_NP);
	CHECK(pthread_rwlockattr_setkind_np(&attributes, 99) == EINVAL);
	CHECK(pthread_rwlockattr_setpshared(&attributes, 99) == EINVAL);
	CHECK(pthread_rwlockattr_getpshared(&attributes, &value) == 0);
	CHECK(value == PTHREAD_PROCESS_PRIVATE);
	CHECK(pthread_rwlockattr_destroy(&attributes) == 0);
}

int main(void)
{
	check_sharing();
	check_timed();
	check_preference(PTHREAD_RWLOCK_PREFER_READER_NP, 0);
	check_preference(PTHREAD_RWLOCK_PREFER_WRITER_NP, 0);
	check_preference(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 1);
	check_attributes();
	CHECK(pthread_rwlock_destroy(&rwlock) == 0);
	return check_status();
}
