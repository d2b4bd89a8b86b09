#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/children.h"
#include "worker/worker.h"
#include "strategies/strategy.h"
#include "support/fake_guest.h"

/* Two threads that race for a variable: about half of the random schedules fail. */
static const struct simulated_op writer[] = {READ(1), SET(0, 1)};
static const struct simulated_op reader[] = {READ(1), EXPECT(0, 0)};
static const struct simulated_code codes[] = {CODE(writer), CODE(reader)};
static const struct simulated_program race = {.codes = codes, .code_count = 2, .initial_count = 2};

static const volatile int never;

struct fixture {
	struct worker worker;
	struct target target;
	char *argv[4];
	struct error err;
};

static void open_worker(struct fixture *fixture, const char *behaviour,
	enum contract_restart restart, enum worker_output output)
{
	struct worker_params params = {
		.target = &fixture->target,
		.argv = fixture->argv,
		.output = output,
		.hang_ns = 50000000,
		.sizes = {.strategy_bytes = 1 << 20},
	};
	struct contract_plan *plan;

	memset(fixture, 0, sizeof *fixture);
	fixture->target.path = realpath("/proc/self/exe", NULL);
	fixture->argv[0] = fixture->target.path;
	fixture->argv[1] = (char *)"guest";
	fixture->argv[2] = (char *)behaviour;
	children_init();
	if (worker_open(&fixture->worker, &params, &fixture->err) < 0)
		fail_msg("%s", fixture->err.text);
	plan = &fixture->worker.contract->plan;
	plan->restart = restart;
	plan->seed = 1;
	plan->stop_at_failure = true;
	plan->strategy_config.thread_capacity = THREAD_CAPACITY;
	while (strategies[plan->strategy] != &strategy_random)
		plan->strategy++;
	worker_clear_strategy(&fixture->worker, 1 << 20);
}

static void close_worker(struct fixture *fixture)
{
	worker_close(&fixture->worker);
	free(fixture->target.path);
}

static enum contract_report run_batch(struct fixture *fixture, uint64_t first, uint64_t limit)
{
	enum contract_report report;

	fixture->worker.contract->plan.run_first = first;
	fixture->worker.contract->plan.run_limit = limit;
	if (worker_run(&fixture->worker, &never, &report, &fixture->err) < 0)
		fail_msg("%s", fixture->err.text);
	return report;
}

/* All runs of a batch, despite failures; the order of outcomes as a hash of failing run numbers. */
static uint64_t failing_runs(enum contract_restart restart, uint64_t limit)
{
	struct fixture fixture;
	uint64_t failing = 0;
	uint64_t next = 0;

	open_worker(&fixture, "run", restart, OUTPUT_DISCARD);
	while (next < limit) {
		const struct contract *contract = fixture.worker.contract;

		if (run_batch(&fixture, next, limit - next) == REPORT_BATCH)
			break;
		assert_int_equal(contract->outcome.kind, OUTCOME_ABORT);
		failing = failing * 31 + contract->run_number;
		next = contract->run_number + 1;
	}
	assert_int_equal(fixture.worker.contract->totals.runs, limit);
	close_worker(&fixture);
	return failing;
}

static void test_worker__finds_the_same_with_every_restart(void **state)
{
	(void)state;
	assert_int_equal(failing_runs(RESTART_REWIND, 40), failing_runs(RESTART_EXEC, 40));
	assert_int_not_equal(failing_runs(RESTART_REWIND, 40), 0);
}

static void test_worker__keeps_a_server_for_the_next_batch(void **state)
{
	struct fixture fixture;
	pid_t pid;

	(void)state;
	open_worker(&fixture, "run", RESTART_REWIND, OUTPUT_DISCARD);
	fixture.worker.contract->plan.stop_at_failure = false;
	assert_int_equal(run_batch(&fixture, 0, 5), REPORT_BATCH);
	pid = fixture.worker.pid;
	assert_int_equal(run_batch(&fixture, 5, 5), REPORT_BATCH);
	assert_int_equal(fixture.worker.pid, pid);
	/* A server of one restart cannot serve another. */
	fixture.worker.contract->plan.restart = RESTART_FORK_MAIN;
	assert_int_equal(run_batch(&fixture, 10, 5), REPORT_BATCH);
	assert_int_not_equal(fixture.worker.pid, pid);
	assert_int_equal(fixture.worker.contract->totals.runs, 15);
	close_worker(&fixture);
}

static void test_worker__makes_an_outcome_of_a_silent_end(void **state)
{
	struct fixture fixture;
	const struct contract *contract;

	(void)state;
	open_worker(&fixture, "segv", RESTART_EXEC, OUTPUT_DISCARD);
	contract = fixture.worker.contract;
	assert_int_equal(run_batch(&fixture, 0, 3), REPORT_FAILURE);
	assert_int_equal(contract->outcome.kind, OUTCOME_CRASH);
	assert_int_equal(contract->outcome.code, SIGSEGV);
	assert_int_equal(contract->totals.runs, 1);
	assert_int_equal(contract->totals.failures, 1);
	close_worker(&fixture);

	open_worker(&fixture, "exit3", RESTART_REWIND, OUTPUT_DISCARD);
	contract = fixture.worker.contract;
	assert_int_equal(run_batch(&fixture, 0, 3), REPORT_DIED);
	assert_int_equal(contract->is_live, 0);
	assert_int_equal(contract->outcome.kind, OUTCOME_EXIT);
	assert_int_equal(contract->outcome.code, 3);
	close_worker(&fixture);
}

static void test_worker__reports_a_server_that_dies(void **state)
{
	struct fixture fixture;

	(void)state;
	open_worker(&fixture, "die", RESTART_REWIND, OUTPUT_DISCARD);
	fixture.worker.contract->plan.stop_at_failure = false;
	assert_int_equal(run_batch(&fixture, 0, 5), REPORT_DIED);
	assert_int_equal(fixture.worker.contract->run_number, 1);
	assert_int_equal(fixture.worker.pid, 0);
	close_worker(&fixture);
}

static void test_worker__asks_a_hanging_run_and_kills_a_deaf_one(void **state)
{
	struct fixture fixture;

	(void)state;
	open_worker(&fixture, "spin", RESTART_REWIND, OUTPUT_DISCARD);
	assert_int_equal(run_batch(&fixture, 0, 1), REPORT_FAILURE);
	assert_int_equal(fixture.worker.contract->outcome.kind, OUTCOME_HANG);
	assert_int_not_equal(fixture.worker.pid, 0);
	close_worker(&fixture);

	open_worker(&fixture, "deaf", RESTART_EXEC, OUTPUT_DISCARD);
	assert_int_equal(run_batch(&fixture, 0, 1), REPORT_FAILURE);
	assert_int_equal(fixture.worker.contract->outcome.kind, OUTCOME_HANG);
	assert_int_equal(fixture.worker.pid, 0);
	close_worker(&fixture);
}

static void test_worker__leaves_no_process_behind(void **state)
{
	struct fixture fixture;
	struct strbuf printed;
	pid_t stray;

	(void)state;
	open_worker(&fixture, "stray", RESTART_EXEC, OUTPUT_KEEP);
	fixture.worker.contract->plan.stop_at_failure = false;
	assert_int_equal(run_batch(&fixture, 0, 1), REPORT_BATCH);
	strbuf_init(&printed);
	capture_read(&fixture.worker.capture, &printed);
	stray = (pid_t)strtol(printed.text, NULL, 10);
	assert_in_range(stray, 2, INT32_MAX);
	assert_int_equal(kill(stray, 0), -1);
	assert_int_equal(errno, ESRCH);
	strbuf_release(&printed);
	close_worker(&fixture);
}

static void test_worker__keeps_little_of_much_output(void **state)
{
	struct fixture fixture;
	struct stat status;

	(void)state;
	open_worker(&fixture, "print", RESTART_EXEC, OUTPUT_KEEP);
	fixture.worker.contract->plan.stop_at_failure = false;
	assert_int_equal(run_batch(&fixture, 0, 1), REPORT_BATCH);
	assert_int_equal(fstat(fixture.worker.capture.file, &status), 0);
	assert_int_equal(status.st_size, 64 << 20);
	assert_in_range(status.st_blocks * 512, 1, 5 * CAPTURE_KEPT_BYTES);
	close_worker(&fixture);
}

static void test_worker__says_why_a_program_does_not_start(void **state)
{
	struct fixture fixture;
	enum contract_report report;

	(void)state;
	open_worker(&fixture, "run", RESTART_EXEC, OUTPUT_DISCARD);
	free(fixture.target.path);
	fixture.target.path = strdup("/no/such/program");
	fixture.worker.contract->plan.run_limit = 1;
	assert_int_equal(worker_run(&fixture.worker, &never, &report, &fixture.err), ERROR_TARGET);
	assert_non_null(strstr(fixture.err.text, "/no/such/program"));
	close_worker(&fixture);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worker__finds_the_same_with_every_restart),
		cmocka_unit_test(test_worker__keeps_a_server_for_the_next_batch),
		cmocka_unit_test(test_worker__makes_an_outcome_of_a_silent_end),
		cmocka_unit_test(test_worker__reports_a_server_that_dies),
		cmocka_unit_test(test_worker__asks_a_hanging_run_and_kills_a_deaf_one),
		cmocka_unit_test(test_worker__leaves_no_process_behind),
		cmocka_unit_test(test_worker__keeps_little_of_much_output),
		cmocka_unit_test(test_worker__says_why_a_program_does_not_start),
	};

	if (argc > 2 && strcmp(argv[1], "guest") == 0)
		return fake_guest_main(argv[2], &race);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
