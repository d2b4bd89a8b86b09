/* Real processes: the tracer's reports about them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/follow/follow.h"
#include "commands/follow/follow_program.h"

struct heard {
	uint32_t started;
	uint32_t ended;
};

static void on_ended(void *context, const struct follow_process *process)
{
	(void)process;
	((struct heard *)context)->ended++;
}

static void on_started(void *context, uint32_t programs)
{
	((struct heard *)context)->started = programs;
}

static void on_without_rights(void *context, const struct follow_program *program)
{
	(void)context;
	(void)program;
}

static uint64_t limit_ns;

static int follow(char *script, struct heard *heard, struct follow_result *result)
{
	char *const argv[] = {"/bin/sh", "-c", script, NULL};
	static const volatile int never;
	const struct follow_request request = {.argv = argv,
		.output = -1,
		.limit_ns = limit_ns,
		.listener = {.context = heard,
			.ended = on_ended,
			.started = on_started,
			.without_rights = on_without_rights},
		.is_interrupted = &never};
	struct error err;

	*heard = (struct heard){0};
	return follow_run(&request, result, &err);
}

static void test_follow__gives_the_status_of_the_program(void **state)
{
	struct follow_result result;
	struct heard heard;

	(void)state;
	assert_int_equal(follow("exit 7", &heard, &result), 0);
	assert_true(WIFEXITED(result.wait_status));
	assert_int_equal(WEXITSTATUS(result.wait_status), 7);
	assert_int_equal(follow("kill -KILL $$", &heard, &result), 0);
	assert_true(WIFSIGNALED(result.wait_status));
	assert_int_equal(WTERMSIG(result.wait_status), 9);
}

static void test_follow__counts_programs_and_reports_none_without_threads(void **state)
{
	struct follow_result result;
	struct heard heard;

	(void)state;
	assert_int_equal(follow("/bin/true; /bin/true | /bin/cat; (exit 0)", &heard, &result), 0);
	assert_int_equal(result.programs, 3);
	assert_int_equal(heard.started, 3);
	assert_int_equal(heard.ended, 0);
}

static void test_follow__lets_stopped_processes_continue(void **state)
{
	struct follow_result result;
	struct heard heard;

	(void)state;
	assert_int_equal(follow("sh -c 'kill -STOP $$; exit 3' & p=$!;"
				"(while :; do kill -CONT $p 2> /dev/null; sleep 0.02; done) & q=$!;"
				"wait $p; s=$?; kill $q; exit $s",
				 &heard, &result),
		0);
	assert_int_equal(WEXITSTATUS(result.wait_status), 3);
}

static void test_follow__kills_a_program_after_its_time(void **state)
{
	struct follow_result result;
	struct heard heard;

	(void)state;
	limit_ns = 50000000;
	assert_int_equal(follow("sleep 1000 & wait", &heard, &result), 0);
	assert_true(result.is_late);
	assert_int_equal(WTERMSIG(result.wait_status), 9);
	limit_ns = UINT64_C(600000000000);
	assert_int_equal(follow("exit 7", &heard, &result), 0);
	assert_false(result.is_late);
	assert_int_equal(WEXITSTATUS(result.wait_status), 7);
	limit_ns = 0;
}

static void test_followed_program__is_read_of_a_process(void **state)
{
	struct followed_program *read = followed_program_read(getpid());
	char here[4096];

	(void)state;
	assert_non_null(read);
	assert_non_null(strstr(read->program.path, "test_follow"));
	assert_string_equal(read->program.directory, getcwd(here, sizeof here));
	assert_non_null(read->program.argv[0]);
	assert_int_equal(access(read->program.argv[0], X_OK), 0);
	assert_non_null(read->program.environment[0]);
	followed_program_leave(read);
	assert_null(followed_program_read(0x7ffffff0));
	assert_int_equal(followed_task_process(getpid()), getpid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_follow__gives_the_status_of_the_program),
		cmocka_unit_test(test_follow__counts_programs_and_reports_none_without_threads),
		cmocka_unit_test(test_follow__lets_stopped_processes_continue),
		cmocka_unit_test(test_follow__kills_a_program_after_its_time),
		cmocka_unit_test(test_followed_program__is_read_of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
