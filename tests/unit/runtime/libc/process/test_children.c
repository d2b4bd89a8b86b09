/* Which children are alive. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/libc/process/children.c"

struct runtime runtime;

static void test_children__none_without_a_fork(void **state)
{
	int pids[CHILDREN_MAX] = {0};

	(void)state;
	assert_int_equal(children_alive(pids), 0);
}

static void test_children__living_ones_count_and_ended_ones_do_not(void **state)
{
	int pids[CHILDREN_MAX] = {0};
	siginfo_t information;
	pid_t living = fork();
	pid_t ended;

	(void)state;
	if (living == 0)
		for (;;)
			pause();
	ended = fork();
	if (ended == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)ended, &information, WEXITED | WNOWAIT), 0);
	assert_int_equal(children_alive(pids), 1);
	/* 0: this system does not name them. */
	assert_true(pids[0] == living || pids[0] == 0);
	assert_int_equal(kill(living, SIGKILL), 0);
	assert_int_equal(waitpid(living, NULL, 0), living);
	assert_int_equal(waitpid(ended, NULL, 0), ended);
	assert_int_equal(children_alive(pids), 0);
}

static void test_children__holder_of_pages_does_not_count(void **state)
{
	int pids[CHILDREN_MAX] = {0};
	pid_t holder = fork();

	(void)state;
	if (holder == 0)
		for (;;)
			pause();
	runtime.holder_pid = holder;
	assert_int_equal(children_alive(pids), 0);
	runtime.holder_pid = 0;
	assert_int_equal(children_alive(pids), 1);
	assert_int_equal(kill(holder, SIGKILL), 0);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
}

/* A child of another kernel thread, which continues to live or has ended. */
static void *fork_two(void *pids)
{
	pid_t *made = pids;

	made[0] = fork();
	if (made[0] == 0)
		for (;;)
			pause();
	made[1] = fork();
	if (made[1] == 0)
		_exit(0);
	(void)pause(); /* they are its children as long as it lives */
	return NULL;
}

static void test_children__of_other_threads_are_named(void **state)
{
	volatile pid_t made[2] = {0, 0};
	int pids[CHILDREN_MAX] = {0};
	siginfo_t information;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, fork_two, (void *)made), 0);
	while (!made[1])
		(void)usleep(1000);
	assert_int_equal(waitid(P_PID, (id_t)made[1], &information, WEXITED | WNOWAIT), 0);
	assert_int_equal(children_alive(pids), 1);
	assert_true(pids[0] == made[0] || pids[0] == 0);
	assert_int_equal(kill(made[0], SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)made[0], &information, WEXITED | WNOWAIT), 0);
	/* Both have ended, and they were not waited for. */
	assert_true(children_alive(pids) == 0 || pids[0] == 0);
	assert_int_equal(waitpid(made[0], NULL, 0), made[0]);
	assert_int_equal(waitpid(made[1], NULL, 0), made[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_children__none_without_a_fork),
		cmocka_unit_test(test_children__living_ones_count_and_ended_ones_do_not),
		cmocka_unit_test(test_children__holder_of_pages_does_not_count),
		cmocka_unit_test(test_children__of_other_threads_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
