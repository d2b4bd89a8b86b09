/* EXPECT: passed runs=50 */
/*
 * Thread attributes: stack size, guard, own stacks, detach state, names, identities, affinity and
 * scheduling parameters.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "check.h"

#define OWN_STACK_BYTES (256 * 1024)

struct bounds {
	void *stack;
	size_t stack_bytes, guard_bytes;
	char *local;
	int detach_state;
};

static void *find_bounds(void *argument)
{
	struct bounds *bounds = argument;
	pthread_attr_t attributes;
	char local = 0;

	bounds->local = &local;
	MUST(pthread_getattr_np(pthread_self(), &attributes) == 0);
	MUST(pthread_attr_getstack(&attributes, &bounds->stack, &bounds->stack_bytes) == 0);
	MUST(pthread_attr_getguardsize(&attributes, &bounds->guard_bytes) == 0);
	MUST(pthread_attr_getdetachstate(&attributes, &bounds->detach_state) == 0);
	MUST(pthread_attr_destroy(&attributes) == 0);
	return NULL;
}

static int is_inside(const struct bounds *bounds)
{
	uintptr_t start = (uintptr_t)bounds->stack;
	uintptr_t local = (uintptr_t)bounds->local;

	return start <= local && local < start + bounds->stack_bytes;
}

static void check_values(void)
{
	pthread_attr_t attributes;
	size_t bytes;
	int value;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_getdetachstate(&attributes, &value) == 0);
	CHECK(value == PTHREAD_CREATE_JOINABLE);
	CHECK(pthread_attr_setdetachstate(&attributes, 99) == EINVAL);
	CHECK(pthread_attr_setstacksize(&attributes, 1) == EINVAL);
	CHECK(pthread_attr_setstacksize(&attributes, 1 << 20) == 0);
	CHECK(pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes == 1 << 20);
	CHECK(pthread_attr_setguardsize(&attributes, 8192) == 0);
	CHECK(pthread_attr_getguardsize(&attributes, &bytes) == 0 && bytes == 8192);
	CHECK(pthread_attr_getinheritsched(&attributes, &value) == 0);
	CHECK(value == PTHREAD_INHERIT_SCHED);
	CHECK(pthread_attr_getscope(&attributes, &value) == 0);
	CHECK(value == PTHREAD_SCOPE_SYSTEM);
	CHECK(pthread_attr_getschedpolicy(&attributes, &value) == 0 && value == SCHED_OTHER);
	CHECK(pthread_attr_destroy(&attributes) == 0);
}

static void check_stack_size(void)
{
	struct bounds bounds;
	pthread_attr_t attributes;
	pthread_t thread;

	MUST(pthread_attr_init(&attributes) == 0);
	MUST(pthread_attr_setstacksize(&attributes, 1 << 20) == 0);
	CHECK(pthread_create(&thread, &attributes, find_bounds, &bounds) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(is_inside(&bounds));
	CHECK(bounds.stack_bytes >= (1 << 20) - 65536);
	CHECK(bounds.detach_state == PTHREAD_CREATE_JOINABLE);
	MUST(pthread_attr_destroy(&attributes) == 0);

	CHECK(pthread_create(&thread, NULL, find_bounds, &bounds) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(is_inside(&bounds));
	CHECK(bounds.guard_bytes >= 4096);
	find_bounds(&bounds);
	CHECK(is_inside(&bounds));
}

static void check_own_stack(void)
{
	struct bounds bounds;
	pthread_attr_t attributes;
	pthread_t thread;
	char *stack = mmap(
		NULL, OWN_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(stack != MAP_FAILED);
	MUST(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setstack(&attributes, stack, OWN_STACK_BYTES) == 0);
	CHECK(pthread_create(&thread, &attributes, find_bounds, &bounds) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(bounds.local > stack && bounds.local < stack + OWN_STACK_BYTES);
	MUST(pthread_attr_destroy(&attributes) == 0);
	CHECK(munmap(stack, OWN_STACK_BYTES) == 0);
}

static void *find_self(void *self)
{
	*(pthread_t *)self = pthread_self();
	return (void *)(intptr_t)gettid();
}

static void check_identity(void)
{
	pthread_t thread, found;
	void *tid;

	CHECK(pthread_create(&thread, NULL, find_self, &found) == 0);
	CHECK(pthread_join(thread, &tid) == 0);
	CHECK(pthread_equal(thread, found));
	CHECK(!pthread_equal(thread, pthread_self()));
	CHECK((pid_t)(intptr_t)tid != gettid());
	CHECK(gettid() == getpid());
}

static sem_t may_end;

static void *wait_for_end(void *unused)
{
	(void)unused;
	sem_wait(&may_end);
	return NULL;
}

static void *ask_for_name(void *name)
{
	MUST(pthread_setname_np(pthread_self(), "worker 2") == 0);
	MUST(prctl(PR_GET_NAME, name) == 0);
	return NULL;
}

static void *take_name(void *name)
{
	MUST(prctl(PR_SET_NAME, "worker 3") == 0);
	MUST(pthread_getname_np(pthread_self(), name, 16) == 0);
	return NULL;
}

static void check_names_of_kernel(void)
{
	pthread_t thread;
	char name[16] = "";

	MUST(pthread_create(&thread, NULL, ask_for_name, name) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(strcmp(name, "worker 2") == 0);
	MUST(pthread_create(&thread, NULL, take_name, name) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(strcmp(name, "worker 3") == 0);
}

static void check_live_thread(void)
{
	struct sched_param parameters;
	struct timespec time;
	clockid_t clock;
	cpu_set_t cpus;
	pthread_t thread;
	char name[16];
	int policy;

	MUST(sem_init(&may_end, 0, 0) == 0);
	MUST(pthread_create(&thread, NULL, wait_for_end, NULL) == 0);
	CHECK(pthread_setname_np(thread, "worker 1") == 0);
	CHECK(pthread_getname_np(thread, name, sizeof(name)) == 0);
	CHECK(strcmp(name, "worker 1") == 0);
	CHECK(pthread_setname_np(thread, "a name of sixteen") == ERANGE);
	CHECK(pthread_getname_np(thread, name, 4) == ERANGE);
	CHECK(pthread_setname_np(pthread_self(), "conductor") == 0);
	CHECK(pthread_getname_np(pthread_self(), name, sizeof(name)) == 0);
	CHECK(strcmp(name, "conductor") == 0);

	CHECK(pthread_getaffinity_np(thread, sizeof(cpus), &cpus) == 0);
	CHECK(CPU_COUNT(&cpus) > 0);
	CHECK(pthread_setaffinity_np(thread, sizeof(cpus), &cpus) == 0);
	CHECK(pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus) == 0);
	CHECK(pthread_getschedparam(thread, &policy, &parameters) == 0);
	CHECK(policy == SCHED_OTHER && parameters.sched_priority == 0);
	CHECK(pthread_setschedparam(thread, policy, &parameters) == 0);
	CHECK(pthread_getcpuclockid(thread, &clock) == 0);
	CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
	CHECK(pthread_kill(thread, 0) == 0);
	MUST(sem_post(&may_end) == 0);
	MUST(pthread_join(thread, NULL) == 0);
}

int main(void)
{
	check_values();
	check_stack_size();
	check_own_stack();
	check_identity();
	check_live_thread();
	check_names_of_kernel();
	return check_status();
}
