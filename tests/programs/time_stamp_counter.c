/* EXPECT: passed runs=50 options=--stalls,never */
/* The processor's time stamp counter advances with the clocks; children and executed programs may
 * read it, too. */
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "check.h"

/* Ticks that every processor's counter makes in a second. */
#define TICKS_LEAST UINT64_C(900000000)

extern char **environ;

static uint64_t read_with_processor(void)
{
	unsigned int processor;

	return __rdtscp(&processor);
}

static void *sleep_and_count(void *ticks)
{
	const uint64_t before = __rdtsc();

	usleep(50000);
	*(uint64_t *)ticks = read_with_processor() - before;
	return NULL;
}

static void test_sleep(void)
{
	struct timespec before = time_in(CLOCK_MONOTONIC, 0);
	struct timespec limit = time_in(CLOCK_MONOTONIC, 51);
	uint64_t ticks = 0;
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, sleep_and_count, &ticks) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(ticks >= TICKS_LEAST / 20);
	/* Both clocks are one. */
	CHECK(!is_time_virtual() || (!is_reached(CLOCK_MONOTONIC, &limit) && ticks < 51000000));
	CHECK(is_reached(CLOCK_MONOTONIC, &before));
}

/* A loop that waits for the counter ends. */
static void *wait_for_counter(void *unused)
{
	const uint64_t start = __rdtsc();

	while (__rdtsc() - start < TICKS_LEAST / 100)
		_mm_pause();
	return unused;
}

static void test_loop(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&threads[i], NULL, wait_for_counter, NULL) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static int wait_for_status(pid_t pid)
{
	int status = -1;

	MUST(waitpid(pid, &status, 0) == pid);
	return status;
}

/* Reads the counter, and executes a program, whose loader reads it. */
static void execute(void)
{
	(void)__rdtsc();
	execl("/bin/true", "true", (char *)NULL);
	_exit(1);
}

static void *make_children(void *unused)
{
	char *arguments[] = {"true", NULL};
	pid_t pid = fork();

	fflush(stdout);
	if (pid == 0)
		execute();
	CHECK(wait_for_status(pid) == 0);
	pid = vfork();
	if (pid == 0)
		execl("/bin/true", "true", (char *)NULL);
	CHECK(wait_for_status(pid) == 0);
	pid = (pid_t)syscall(SYS_fork);
	if (pid == 0)
		execute();
	CHECK(wait_for_status(pid) == 0);
	CHECK(posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ) == 0);
	CHECK(wait_for_status(pid) == 0);
	CHECK(system("true") == 0);
	CHECK(execl("/no/such/program", "none", (char *)NULL) == -1);
	(void)__rdtsc();
	return unused;
}

static void test_children(void)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, make_children, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
}

int main(void)
{
	test_sleep();
	test_loop();
	test_children();
	return check_status();
}
