/* EXPECT: passed runs=20 */
/*
 * Setting the clock: refused, or from then on it shows what it was set to. The program shuts itself
 * off from the kernel's own calls first: the machine's clock must not change, even if root runs this.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "check.h"

static int is_shut_off;

static void shut_off(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_settime, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_settimeofday, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};

	is_shut_off = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static long seconds_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec;
}

/* Forward by `seconds`: refused, or seen at once, and by no other clock. */
static int is_set_or_refused(long seconds)
{
	struct timespec wanted;
	long steady = seconds_of(CLOCK_MONOTONIC);

	clock_gettime(CLOCK_REALTIME, &wanted);
	wanted.tv_sec += seconds;
	errno = 0;
	if (clock_settime(CLOCK_REALTIME, &wanted))
		return errno == EPERM;
	return seconds_of(CLOCK_REALTIME) - wanted.tv_sec <= 1 &&
	       seconds_of(CLOCK_REALTIME) >= wanted.tv_sec && time(NULL) >= wanted.tv_sec &&
	       seconds_of(CLOCK_MONOTONIC) - steady <= 1;
}

static int is_day_set_or_refused(long seconds)
{
	struct timeval wanted;

	gettimeofday(&wanted, NULL);
	wanted.tv_sec += seconds;
	errno = 0;
	if (settimeofday(&wanted, NULL))
		return errno == EPERM;
	return seconds_of(CLOCK_REALTIME) - wanted.tv_sec <= 1 &&
	       seconds_of(CLOCK_REALTIME) >= wanted.tv_sec;
}

static void *set_there(void *unused)
{
	CHECK(is_set_or_refused(1000));
	CHECK(is_day_set_or_refused(-500));
	return unused;
}

static void test_bad_arguments(void)
{
	struct timespec time = {.tv_sec = 1, .tv_nsec = 1000000000};

	CHECK(clock_settime(CLOCK_REALTIME, &time) == -1);
	CHECK(clock_settime(CLOCK_MONOTONIC, &time) == -1);
}

int main(void)
{
	pthread_t thread;
	struct timespec until;

	shut_off();
	if (!is_shut_off)
		return 0;
	test_bad_arguments();
	CHECK(is_set_or_refused(100));
	MUST(pthread_create(&thread, NULL, set_there, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	until = time_in(CLOCK_REALTIME, 20);
	CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == 0);
	CHECK(is_reached(CLOCK_REALTIME, &until));
	return check_status();
}
