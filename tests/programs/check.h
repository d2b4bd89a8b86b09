/*
 * Checks for the programs of this folder. Each check prints one line, always the same text; the
 * exit status says whether all checks held. Checks are made by one thread at a time (the others
 * have ended, wait, or leave their results in variables): the output does not depend on the
 * schedule. It must be equal byte for byte natively and under raddle.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int check_failures;

static inline void check_that(int holds, const char *text, const char *file, int line)
{
	if (holds) {
		printf("ok %s\n", text);
		return;
	}
	check_failures++;
	printf("FAILED %s (%s:%d)\n", text, file, line);
}

/* The condition is its own text: it must not contain values that differ from run to run. */
#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __FILE__, __LINE__)

/* For preparations, which are not tested: prints nothing if they succeed. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			check_that(0, #condition, __FILE__, __LINE__);                             \
	} while (0)

/* Returns the exit status of main. */
static inline int check_status(void)
{
	fflush(stdout);
	return check_failures ? 1 : 0;
}

/* The time of `clock` in so many milliseconds (negative: ago). */
static inline struct timespec time_in(clockid_t clock, long milliseconds)
{
	struct timespec time;
	long nanoseconds;

	clock_gettime(clock, &time);
	nanoseconds = time.tv_nsec + milliseconds % 1000 * 1000000;
	time.tv_sec += milliseconds / 1000 + (nanoseconds >= 1000000000) - (nanoseconds < 0);
	time.tv_nsec = (nanoseconds + 1000000000) % 1000000000;
	return time;
}

static inline int is_reached(clockid_t clock, const struct timespec *time)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec > time->tv_sec ||
	       (now.tv_sec == time->tv_sec && now.tv_nsec >= time->tv_nsec);
}

/* Under raddle, as run-program says. Natively a busy machine lets any thread wake as late as it likes. */
static inline int is_time_virtual(void)
{
	return getenv("TIME_IS_VIRTUAL") != NULL;
}
