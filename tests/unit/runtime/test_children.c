/* Which children live. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/children.c"

static void test_children__none_without_a_fork(void **state)
{
	int pids[CHILDREN_MAX];

	(void)state;
	assert_int_equal(children_alive(pids), 0);
}

static void test_children__living_ones_count_and_ended_ones_do_not(void **state)
{
	int pids[CHILDREN_MAX];
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_children__none_without_a_fork),
		cmocka_unit_test(test_children__living_ones_count_and_ended_ones_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
