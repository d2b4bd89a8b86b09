/* EXPECT: passed runs=50 options=--stalls,never */
/* Sleeps in order, clocks that agree with each other and move forward, bad arguments. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <threads.h>
#include <unistd.h>

#include "check.h"

/* ---- sleeps ---- */

/* When each is to wake, and what the clock showed when it did. The last one wakes first. */
static struct timespec wanted[3];
static struct timespec woken[3];

static int is_earlier(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec < other->tv_sec ||
	       (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

static void *sleep_and_note(void *number)
{
	int rank = *(int *)number;

	wanted[rank] = time_in(CLOCK_MONOTONIC, (3 - rank) * 60);
	usleep((useconds_t)(3 - rank) * 60000);
	woken[rank] = time_in(CLOCK_MONOTONIC, 0);
	return NULL;
}

static void test_order(void)
{
	pthread_t threads[3];
	int numbers[3] = {0, 1, 2};

	for (int i = 0; i < 3; i++)
		MUST(pthread_create(&threads[i], NULL, sleep_and_note, &numbers[i]) == 0);
	for (int i = 0; i < 3; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(!is_earlier(&woken[0], &wanted[0]) && !is_earlier(&woken[1], &wanted[1]) &&
		!is_earlier(&woken[2], &wanted[2]));
	CHECK(!is_time_virtual() ||
		(is_earlier(&woken[2], &woken[1]) && is_earlier(&woken[1], &woken[0])));
}

static void test_sleeps(void)
{
	struct timespec limit = time_in(CLOCK_MONOTONIC, 12);
	struct timespec request = {.tv_nsec = 12000000};
	struct timespec bad = {.tv_nsec = 1000000000};

	CHECK(nanosleep(&request, NULL) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &limit));
	limit = time_in(CLOCK_REALTIME, 12);
	CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &limit, NULL) == 0);
	CHECK(is_reached(CLOCK_REALTIME, &limit));
	limit = time_in(CLOCK_MONOTONIC, -1000);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &limit, NULL) == 0);
	limit = time_in(CLOCK_MONOTONIC, 5);
	CHECK(thrd_sleep(&(struct timespec){.tv_nsec = 5000000}, NULL) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &limit));
	CHECK(usleep(0) == 0 && sleep(0) == 0);
	errno = 0;
	CHECK(nanosleep(&bad, NULL) == -1 && errno == EINVAL);
	bad = (struct timespec){.tv_sec = -1};
	errno = 0;
	CHECK(nanosleep(&bad, NULL) == -1 && errno == EINVAL);
	CHECK(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &request, NULL) == EINVAL);
	CHECK(clock_nanosleep((clockid_t)1234, 0, &request, NULL) == EINVAL);
}

/* ---- clocks ---- */

static void test_clocks(void)
{
	struct timespec before;
	struct timespec after;
	struct timespec universal;
	struct timeval micro;
	struct tms usage;
	time_t seconds;

	MUST(clock_gettime(CLOCK_REALTIME, &before) == 0);
	MUST(gettimeofday(&micro, NULL) == 0);
	seconds = time(NULL);
	MUST(timespec_get(&universal, TIME_UTC) == TIME_UTC);
	MUST(clock_gettime(CLOCK_REALTIME, &after) == 0);
	CHECK(micro.tv_sec >= before.tv_sec && micro.tv_sec <= after.tv_sec);
	CHECK(seconds >= before.tv_sec - 1 && seconds <= after.tv_sec);
	CHECK(universal.tv_sec >= before.tv_sec && universal.tv_sec <= after.tv_sec);
	CHECK(after.tv_sec > before.tv_sec || after.tv_nsec >= before.tv_nsec);
	MUST(clock_gettime(CLOCK_MONOTONIC, &before) == 0);
	usleep(3000);
	CHECK(is_reached(CLOCK_MONOTONIC, &before));
	CHECK(clock() >= 0);
	CHECK(times(&usage) != (clock_t)-1);
	CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after) == 0);
	CHECK(clock_gettime(CLOCK_BOOTTIME, &after) == 0);
	errno = 0;
	CHECK(clock_gettime((clockid_t)1234, &after) == -1 && errno == EINVAL);
}

/* For every caller and every function: libc's own function, or the system call. */
static void test_ways(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	int (*direct)(clockid_t, struct timespec *);
	struct timespec usual;
	struct timespec other = {0};

	MUST(libc != NULL);
	*(void **)&direct = dlsym(libc, "clock_gettime");
	MUST(direct != NULL);
	MUST(clock_gettime(CLOCK_REALTIME, &usual) == 0);
	MUST(direct(CLOCK_REALTIME, &other) == 0);
	CHECK(other.tv_sec - usual.tv_sec <= 5 && other.tv_sec >= usual.tv_sec);
	other.tv_sec = 0;
	MUST(syscall(SYS_clock_gettime, CLOCK_REALTIME, &other) == 0);
	CHECK(other.tv_sec - usual.tv_sec <= 5 && other.tv_sec >= usual.tv_sec);
	dlclose(libc);
}

/* ---- loops that read the clock ---- */

static atomic_int is_set;

static void *set_flag(void *unused)
{
	(void)unused;
	atomic_store(&is_set, 1);
	return NULL;
}

/* A time limit of seconds for what takes no time at all: it must not pass first. */
static void test_spin_for_flag(void)
{
	struct timespec limit = time_in(CLOCK_MONOTONIC, 20000);
	pthread_t setter;
	int is_late = 0;

	MUST(pthread_create(&setter, NULL, set_flag, NULL) == 0);
	while (!atomic_load(&is_set) && !is_late)
		is_late = is_reached(CLOCK_MONOTONIC, &limit);
	CHECK(!is_late);
	MUST(pthread_join(setter, NULL) == 0);
}

static void *spin_for_time(void *unused)
{
	struct timespec limit = time_in(CLOCK_MONOTONIC, 40);

	(void)unused;
	while (!is_reached(CLOCK_MONOTONIC, &limit))
		sched_yield();
	return NULL;
}

static void test_spin_for_time(void)
{
	struct timespec limit = time_in(CLOCK_MONOTONIC, 40);
	pthread_t threads[2];

	MUST(pthread_create(&threads[0], NULL, spin_for_time, NULL) == 0);
	MUST(pthread_create(&threads[1], NULL, spin_for_time, NULL) == 0);
	while (!is_reached(CLOCK_MONOTONIC, &limit))
		;
	MUST(pthread_join(threads[0], NULL) == 0);
	MUST(pthread_join(threads[1], NULL) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &limit));
}

static int fails_invalid(clockid_t clock)
{
	struct timespec time;

	errno = 0;
	return clock_gettime(clock, &time) == -1 && errno == EINVAL;
}

int main(void)
{
	test_order();
	test_sleeps();
	test_clocks();
	test_ways();
	test_spin_for_flag();
	test_spin_for_time();
	CHECK(fails_invalid(-1));
	CHECK(fails_invalid(INT_MIN));
	return check_status();
}
