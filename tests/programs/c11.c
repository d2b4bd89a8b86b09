/* EXPECT: passed runs=50 */
/* C11 threads. */
#include <errno.h>
#include <threads.h>

#include "check.h"

#define THREADS 3

static mtx_t mutex;
static cnd_t changed;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int counter, initialised, ready;
static _Atomic int destroyed;

static void initialise(void)
{
	initialised++;
}

static void destroy(void *value)
{
	destroyed += value == &counter;
}

static int count(void *unused)
{
	(void)unused;
	call_once(&flag, initialise);
	tss_set(key, &counter);
	for (int i = 0; i < 3; i++) {
		mtx_lock(&mutex);
		counter++;
		mtx_unlock(&mutex);
		thrd_yield();
	}
	return counter > 0 ? 7 : 8;
}

static int exit_with_nine(void *unused)
{
	(void)unused;
	thrd_exit(9);
}

static int try_lock(void *wanted)
{
	int result = mtx_trylock(wanted);

	if (result == thrd_success)
		mtx_unlock(wanted);
	return result;
}

static int try_by_another(mtx_t *wanted)
{
	thrd_t thread;
	int result;

	MUST(thrd_create(&thread, try_lock, wanted) == thrd_success);
	MUST(thrd_join(thread, &result) == thrd_success);
	return result;
}

static void check_threads(void)
{
	thrd_t threads[THREADS];
	int result;

	CHECK(tss_create(&key, destroy) == thrd_success);
	for (int i = 0; i < THREADS; i++)
		CHECK(thrd_create(&threads[i], count, NULL) == thrd_success);
	for (int i = 0; i < THREADS; i++)
		CHECK(thrd_join(threads[i], &result) == thrd_success && result == 7);
	CHECK(counter == 3 * THREADS);
	CHECK(initialised == 1);
	CHECK(destroyed == THREADS);
	CHECK(tss_get(key) == NULL);
	tss_delete(key);
	CHECK(thrd_create(&threads[0], exit_with_nine, NULL) == thrd_success);
	CHECK(thrd_join(threads[0], &result) == thrd_success && result == 9);
	CHECK(thrd_equal(thrd_current(), thrd_current()));
}

static void check_mutexes(void)
{
	struct timespec soon;
	mtx_t recursive, timed;

	CHECK(mtx_lock(&mutex) == thrd_success);
	CHECK(mtx_trylock(&mutex) == thrd_busy);
	CHECK(try_by_another(&mutex) == thrd_busy);
	CHECK(mtx_unlock(&mutex) == thrd_success);
	CHECK(try_by_another(&mutex) == thrd_success);

	CHECK(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
	CHECK(mtx_lock(&recursive) == thrd_success && mtx_lock(&recursive) == thrd_success);
	CHECK(mtx_unlock(&recursive) == thrd_success);
	CHECK(try_by_another(&recursive) == thrd_busy);
	CHECK(mtx_unlock(&recursive) == thrd_success);
	mtx_destroy(&recursive);

	CHECK(mtx_init(&timed, mtx_timed) == thrd_success);
	CHECK(mtx_lock(&timed) == thrd_success);
	CHECK(timespec_get(&soon, TIME_UTC) == TIME_UTC);
	CHECK(mtx_timedlock(&timed, &soon) == thrd_timedout);
	CHECK(mtx_unlock(&timed) == thrd_success);
	CHECK(mtx_timedlock(&timed, &soon) == thrd_success);
	CHECK(mtx_unlock(&timed) == thrd_success);
	mtx_destroy(&timed);
}

static int wait_until_ready(void *unused)
{
	(void)unused;
	mtx_lock(&mutex);
	while (!ready)
		cnd_wait(&changed, &mutex);
	mtx_unlock(&mutex);
	return 0;
}

static void check_conditions(void)
{
	struct timespec soon;
	thrd_t threads[THREADS];
	int result = thrd_success;

	for (int i = 0; i < THREADS; i++)
		MUST(thrd_create(&threads[i], wait_until_ready, NULL) == thrd_success);
	mtx_lock(&mutex);
	ready = 1;
	CHECK(cnd_broadcast(&changed) == thrd_success);
	mtx_unlock(&mutex);
	for (int i = 0; i < THREADS; i++)
		CHECK(thrd_join(threads[i], NULL) == thrd_success);
	CHECK(cnd_signal(&changed) == thrd_success);

	soon = time_in(CLOCK_REALTIME, 20);
	mtx_lock(&mutex);
	while (result == thrd_success)
		result = cnd_timedwait(&changed, &mutex, &soon);
	mtx_unlock(&mutex);
	CHECK(result == thrd_timedout);
	CHECK(is_reached(CLOCK_REALTIME, &soon));
}

static void check_sleep_and_detach(void)
{
	struct timespec short_time = {.tv_nsec = 5000000};
	struct timespec soon = time_in(CLOCK_MONOTONIC, 5);
	thrd_t thread;

	CHECK(thrd_sleep(&short_time, NULL) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	MUST(thrd_create(&thread, wait_until_ready, NULL) == thrd_success);
	CHECK(thrd_detach(thread) == thrd_success);
}

int main(void)
{
	MUST(mtx_init(&mutex, mtx_plain) == thrd_success);
	MUST(cnd_init(&changed) == thrd_success);
	check_threads();
	check_mutexes();
	check_conditions();
	check_sleep_and_detach();
	return check_status();
}
