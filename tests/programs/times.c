/* EXPECT: passed runs=50 */
/*
 * Time: clocks never run backwards, sleeps last at least as long as requested, all readers of one
 * clock agree, and sleeping threads do not keep others from running.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

static void check_sleeps(void)
{
	struct timespec time = {.tv_nsec = 10000000}, left = {.tv_sec = 7};
	struct timespec wrong = {.tv_nsec = 1000000000};
	struct timespec soon = time_in(CLOCK_MONOTONIC, 10);

	CHECK(nanosleep(&time, &left) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	CHECK(nanosleep(&wrong, NULL) == -1 && errno == EINVAL);
	soon = time_in(CLOCK_MONOTONIC, 10);
	CHECK(usleep(10000) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	soon = time_in(CLOCK_MONOTONIC, 10);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	soon = time_in(CLOCK_MONOTONIC, 10);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &soon, NULL) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	soon = time_in(CLOCK_REALTIME, 10);
	CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &soon, NULL) == 0);
	CHECK(is_reached(CLOCK_REALTIME, &soon));
	soon = time_in(CLOCK_MONOTONIC, -1000);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &soon, NULL) == 0);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL) == EINVAL);
	CHECK(clock_nanosleep(99, 0, &time, NULL) == EINVAL);
	CHECK(sleep(0) == 0);
}

static int is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static void check_readers(void)
{
	struct timespec before, after, resolution;
	struct timeval of_day;
	int steps_back = 0;
	time_t seconds;

	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < 1000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &after);
		steps_back += is_before(&after, &before);
		before = after;
	}
	CHECK(steps_back == 0);
	CHECK(clock_gettime(CLOCK_REALTIME, &before) == 0);
	CHECK(gettimeofday(&of_day, NULL) == 0);
	seconds = time(NULL);
	CHECK(timespec_get(&after, TIME_UTC) == TIME_UTC);
	CHECK(!is_before(&after, &before));
	CHECK(of_day.tv_sec > before.tv_sec ||
		(of_day.tv_sec == before.tv_sec && of_day.tv_usec >= before.tv_nsec / 1000));
	CHECK(of_day.tv_sec < after.tv_sec ||
		(of_day.tv_sec == after.tv_sec && of_day.tv_usec <= after.tv_nsec / 1000));
	/* time() may read the clock of the last tick. */
	CHECK(seconds >= before.tv_sec - 1 && seconds <= after.tv_sec);
	CHECK(clock_getres(CLOCK_MONOTONIC, &resolution) == 0);
	CHECK(resolution.tv_sec == 0 && resolution.tv_nsec > 0);
	CHECK(clock_gettime(99, &before) == -1 && errno == EINVAL);
	CHECK(clock_gettime(CLOCK_BOOTTIME, &before) == 0);
	CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before) == 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int awake;

static void *sleep_long(void *deadline)
{
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, deadline, NULL);
	pthread_mutex_lock(&mutex);
	awake++;
	pthread_mutex_unlock(&mutex);
	return (void *)(intptr_t)is_reached(CLOCK_MONOTONIC, deadline);
}

static void check_sleepers(void)
{
	struct timespec deadlines[3];
	struct timespec begin = time_in(CLOCK_MONOTONIC, 0);
	pthread_t threads[3];
	void *is_late_enough;

	for (int i = 0; i < 3; i++) {
		deadlines[i] = time_in(CLOCK_MONOTONIC, 30 - 10 * i);
		MUST(pthread_create(&threads[i], NULL, sleep_long, &deadlines[i]) == 0);
	}
	for (int i = 0; i < 3; i++) {
		MUST(pthread_join(threads[i], &is_late_enough) == 0);
		CHECK(is_late_enough);
	}
	CHECK(awake == 3);
	CHECK(is_reached(CLOCK_MONOTONIC, &begin));
}

/* A loop that reads the clock until it has moved must end. */
static void check_reading_loop(void)
{
	struct timespec soon = time_in(CLOCK_MONOTONIC, 3);
	long reads = 0;

	while (!is_reached(CLOCK_MONOTONIC, &soon))
		reads++;
	CHECK(reads > 0);
}

int main(void)
{
	check_sleeps();
	check_readers();
	check_sleepers();
	check_reading_loop();
	return check_status();
}
