/* EXPECT: passed runs=50 */
/* Thread ids, processors, priorities, user ids, random numbers: harmless, and as POSIX has them. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

static pid_t ids[2];
static _Atomic int by_system_call_too;

static void *tell_id(void *id)
{
	*(pid_t *)id = gettid();
	by_system_call_too += syscall(SYS_gettid) == *(pid_t *)id;
	return NULL;
}

static void test_ids(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&threads[i], NULL, tell_id, &ids[i]) == 0);
	for (int i = 0; i < 2; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(gettid() == getpid());
	CHECK(ids[0] != ids[1] && ids[0] != getpid() && ids[1] != getpid());
	CHECK(by_system_call_too == 2);
}

static void *look_at_self(void *unused)
{
	pthread_attr_t attributes;
	cpu_set_t processors;
	void *stack = NULL;
	size_t size = 0;
	char here;
	int policy;
	struct sched_param parameters;
	clockid_t clock;
	struct timespec time;

	(void)unused;
	CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
	CHECK(pthread_attr_getstack(&attributes, &stack, &size) == 0);
	CHECK((uintptr_t)&here >= (uintptr_t)stack && (uintptr_t)&here < (uintptr_t)stack + size);
	CHECK(pthread_attr_destroy(&attributes) == 0);
	CHECK(pthread_getaffinity_np(pthread_self(), sizeof processors, &processors) == 0);
	CHECK(CPU_COUNT(&processors) >= 1);
	CHECK(pthread_getschedparam(pthread_self(), &policy, &parameters) == 0);
	CHECK(policy == SCHED_OTHER && parameters.sched_priority == 0);
	CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0);
	CHECK(clock_gettime(clock, &time) == 0);
	return NULL;
}

static void test_processors(void)
{
	cpu_set_t processors;
	cpu_set_t seen;
	unsigned int processor;
	int first = 0;

	CHECK(sched_getaffinity(0, sizeof processors, &processors) == 0);
	while (!CPU_ISSET(first, &processors))
		first++;
	CPU_ZERO(&processors);
	CPU_SET(first, &processors);
	CHECK(pthread_setaffinity_np(pthread_self(), sizeof processors, &processors) == 0);
	CHECK(pthread_getaffinity_np(pthread_self(), sizeof seen, &seen) == 0);
	CHECK(CPU_EQUAL(&seen, &processors));
	CHECK(sched_getcpu() == first);
	CHECK(getcpu(&processor, NULL) == 0 && (int)processor == first);
	CHECK(sched_setaffinity(0, sizeof processors, &processors) == 0);
	CPU_ZERO(&processors);
	CHECK(pthread_setaffinity_np(pthread_self(), sizeof processors, &processors) == EINVAL);
	errno = 0;
	CHECK(sched_setaffinity(0, sizeof processors, &processors) == -1 && errno == EINVAL);
}

static void test_priorities(void)
{
	struct sched_param parameters = {0};

	CHECK(pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameters) == 0);
	CHECK(pthread_setschedprio(pthread_self(), 0) == 0);
	parameters.sched_priority = 5;
	CHECK(pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameters) == EINVAL);
	CHECK(pthread_setschedparam(pthread_self(), 77, &parameters) == EINVAL);
	CHECK(sched_yield() == 0);
}

static void test_users(void)
{
	CHECK(setuid(getuid()) == 0 && setgid(getgid()) == 0);
	CHECK(seteuid(geteuid()) == 0 && setegid(getegid()) == 0);
	CHECK(setreuid(getuid(), geteuid()) == 0 && setregid(getgid(), getegid()) == 0);
	CHECK(setresuid(getuid(), geteuid(), (uid_t)-1) == 0);
	CHECK(setresgid(getgid(), getegid(), (gid_t)-1) == 0);
}

static void test_random(void)
{
	unsigned char first[300] = {0};
	unsigned char second[64] = {0};
	int is_below = 1;

	CHECK(getrandom(first, 64, 0) == 64);
	CHECK(getentropy(second, sizeof second) == 0);
	CHECK(memcmp(first, second, 64) != 0);
	arc4random_buf(first, sizeof first);
	CHECK(memcmp(first, second, 64) != 0);
	CHECK(arc4random() != arc4random() || arc4random() != arc4random());
	for (int i = 0; i < 100; i++)
		is_below &= arc4random_uniform(7) < 7;
	CHECK(is_below);
	errno = 0;
	CHECK(getentropy(first, 257) == -1 && errno == EIO);
	errno = 0;
	CHECK(getrandom(first, 1, 0xff00) == -1 && errno == EINVAL);
}

int main(void)
{
	pthread_t thread;

	test_ids();
	look_at_self(NULL);
	MUST(pthread_create(&thread, NULL, look_at_self, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	test_processors();
	test_priorities();
	test_users();
	test_random();
	return check_status();
}
