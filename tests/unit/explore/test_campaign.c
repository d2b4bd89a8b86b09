#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "explore/campaign.h"
#include "plan/strategy_option.h"
#include "support/fake_guest.h"

/* Two threads that race for a variable: a good part of the random schedules fail. */
static const struct simulated_op writer[] = {READ(1), READ(1), SET(0, 1)};
static const struct simulated_op reader[] = {READ(1), READ(1), EXPECT(0, 0)};
static const struct simulated_code race_codes[] = {CODE(writer), CODE(reader)};
static const struct simulated_program race = {
	.codes = race_codes, .code_count = 2, .initial_count = 2};

static const struct simulated_op quiet[] = {READ(1), ADD(2, 1), READ(1)};
static const struct simulated_code safe_codes[] = {CODE(quiet), CODE(quiet), CODE(quiet)};
static const struct simulated_program safe = {
	.codes = safe_codes, .code_count = 3, .initial_count = 3};

static volatile int is_interrupted;

/* Calls that a listener received. */
struct heard {
	unsigned started, found, new_found;
	uint64_t run_number;
	uint32_t failed_again;
	char notice[512];
	uint64_t interrupt_at; /* runs; 0: never */
};

static void on_started(void *context, const struct campaign_start *start)
{
	struct heard *heard = context;

	assert_non_null(start->program);
	heard->started++;
}

static void on_progress(void *context, const struct campaign_progress *progress)
{
	const struct heard *heard = context;

	if (heard->interrupt_at && progress->runs >= heard->interrupt_at)
		is_interrupted = 1;
}

static void on_notice(void *context, const char *text)
{
	struct heard *heard = context;

	(void)snprintf(heard->notice, sizeof heard->notice, "%s", text);
}

static void on_found(void *context, const struct campaign_found *found)
{
	struct heard *heard = context;

	heard->found++;
	heard->new_found += found->is_new;
	heard->run_number = found->finding->run_number;
	heard->failed_again = found->confirmation.failed_again;
}

struct fixture {
	char folder[64];
	char *program;
	char *argv[5];
	struct campaign_options options;
	struct campaign_result result;
	struct heard heard;
	struct error err;
};

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	assert_non_null(fixture);
	strcpy(fixture->folder, "/tmp/raddle-campaign-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	fixture->program = realpath("/proc/self/exe", NULL);
	fixture->argv[0] = fixture->program;
	fixture->argv[1] = (char *)"guest";
	campaign_options_init(&fixture->options);
	fixture->options.argv = fixture->argv;
	fixture->options.directory = fixture->folder;
	fixture->options.time_ns = 0;
	fixture->options.is_interrupted = &is_interrupted;
	is_interrupted = 0;
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	(void)nftw(fixture->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	settings_release(&fixture->options.settings);
	free(fixture->program);
	free(fixture);
	return 0;
}

static void run(struct fixture *fixture, const char *behaviour, const char *program,
	const char *strategy, uint64_t schedules)
{
	const struct campaign_listener listener = {
		.context = &fixture->heard,
		.started = on_started,
		.progress = on_progress,
		.notice = on_notice,
		.found = on_found,
	};

	fixture->argv[2] = (char *)behaviour;
	fixture->argv[3] = (char *)program;
	fixture->options.schedules = schedules;
	assert_int_equal(strategy_parse(strategy, &fixture->options.strategy,
				 &fixture->options.strategy_config, &fixture->err),
		0);
	if (campaign_run(&fixture->options, &listener, &fixture->result, &fixture->err) < 0)
		fail_msg("%s", fixture->err.text);
}

static void test_campaign__makes_exactly_the_runs_of_its_budget(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, "run", "safe", "random", 1234);
	assert_int_equal(fixture->result.total.runs, 1234);
	assert_int_equal(fixture->result.total.findings, 0);
	assert_int_equal(fixture->heard.started, 1);
	fixture->options.workers = 3;
	run(fixture, "run", "safe", "random", 1234);
	assert_int_equal(fixture->result.total.runs, 1234);
	fixture->options.is_restart_forced = true;
	fixture->options.restart = RESTART_EXEC;
	run(fixture, "run", "safe", "random", 20);
	assert_int_equal(fixture->result.total.runs, 20);
}

static void test_campaign__repeats_itself_for_a_seed(void **state)
{
	struct fixture *fixture = *state;
	uint64_t found_at;
	uint64_t differs = 0;

	run(fixture, "run", "race", "random", 1000);
	assert_int_equal(fixture->heard.found, 1);
	assert_int_equal(fixture->heard.failed_again, CONFIRM_REPLAYS);
	found_at = fixture->heard.run_number;
	for (int i = 0; i < 3; i++) {
		run(fixture, "run", "race", "random", 1000);
		assert_int_equal(fixture->heard.run_number, found_at);
	}
	/* One finding, seen four times. */
	assert_int_equal(fixture->heard.found, 4);
	assert_int_equal(fixture->heard.new_found, 1);
	for (fixture->options.seed = 2; fixture->options.seed < 12; fixture->options.seed++) {
		run(fixture, "run", "race", "random", 1000);
		differs += fixture->heard.run_number != found_at;
	}
	assert_int_not_equal(differs, 0);
}

static void test_campaign__collects_equal_failures_once_when_it_keeps_going(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.keep_going = true;
	run(fixture, "run", "race", "random", 200);
	assert_int_equal(fixture->result.total.runs, 200);
	assert_int_equal(fixture->result.total.findings, 1);
	assert_in_range(fixture->result.total.failures, 2, 200);
}

static void test_campaign__falls_back_once_and_loses_no_run(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, "taint", "safe", "random", 50);
	assert_int_equal(fixture->result.total.runs, 50);
	assert_int_equal(fixture->result.restart, RESTART_FORK_CREATE);
	assert_non_null(strstr(fixture->heard.notice, "did what cannot be undone"));
	assert_non_null(strstr(fixture->heard.notice, "fork_create"));
}

static void test_campaign__doubts_a_restart_whose_failure_does_not_repeat(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, "flaky", "safe", "random", 40);
	assert_int_equal(fixture->heard.found, 1);
	assert_int_equal(fixture->heard.run_number, 6);
	assert_int_equal(fixture->heard.failed_again, 0);
	assert_int_equal(fixture->result.restart, RESTART_FORK_CREATE);
	assert_non_null(strstr(fixture->heard.notice, "did not repeat"));
	assert_int_equal(fixture->result.total.runs, 40);
	assert_int_equal(fixture->result.total.findings, 1);
}

static void test_campaign__refuses_to_leave_a_forced_restart(void **state)
{
	struct fixture *fixture = *state;
	const struct campaign_listener listener = {.context = NULL};

	fixture->argv[2] = (char *)"taint";
	fixture->argv[3] = (char *)"safe";
	fixture->options.schedules = 50;
	fixture->options.is_restart_forced = true;
	fixture->options.restart = RESTART_REWIND;
	assert_int_equal(
		campaign_run(&fixture->options, &listener, &fixture->result, &fixture->err),
		ERROR_TARGET);
	assert_non_null(strstr(fixture->err.text, "did what cannot be undone"));
}

static void test_campaign__ends_where_the_user_interrupts(void **state)
{
	struct fixture *fixture = *state;

	fixture->heard.interrupt_at = 1;
	run(fixture, "run", "safe", "random", 0);
	assert_true(fixture->result.is_interrupted);
	assert_int_not_equal(fixture->result.total.runs, 0);
}

static void test_campaign__says_what_a_program_without_threads_did(void **state)
{
	struct fixture *fixture = *state;

	run(fixture, "exit3", "safe", "random", 10);
	assert_true(fixture->result.has_no_threads);
	assert_int_equal(fixture->result.outcome.kind, OUTCOME_EXIT);
	assert_int_equal(fixture->result.outcome.code, 3);
	assert_int_equal(fixture->heard.found, 1);
}

static void test_campaign__tolerates_the_given_outcomes(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.settings.tolerated = 1u << OUTCOME_ABORT;
	run(fixture, "run", "race", "random", 100);
	assert_int_equal(fixture->result.total.runs, 100);
	assert_int_equal(fixture->result.total.failures, 0);
	assert_int_not_equal(fixture->result.outcomes[OUTCOME_ABORT], 0);
}

static void test_campaign__asks_the_users_judge(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.settings.check = strdup("test \"$RADDLE_OUTCOME\" = passed && "
						 "test \"$RADDLE_STATUS\" = 0 && exit 5");
	run(fixture, "run", "safe", "random", 10);
	assert_int_equal(fixture->result.total.runs, 1);
	assert_int_equal(fixture->result.restart, RESTART_EXEC);
	assert_int_equal(fixture->heard.found, 1);
	assert_int_equal(fixture->heard.failed_again, CONFIRM_REPLAYS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_campaign__makes_exactly_the_runs_of_its_budget),
		TEST(test_campaign__repeats_itself_for_a_seed),
		TEST(test_campaign__collects_equal_failures_once_when_it_keeps_going),
		TEST(test_campaign__falls_back_once_and_loses_no_run),
		TEST(test_campaign__doubts_a_restart_whose_failure_does_not_repeat),
		TEST(test_campaign__refuses_to_leave_a_forced_restart),
		TEST(test_campaign__ends_where_the_user_interrupts),
		TEST(test_campaign__says_what_a_program_without_threads_did),
		TEST(test_campaign__tolerates_the_given_outcomes),
		TEST(test_campaign__asks_the_users_judge),
	};

	if (argc > 3 && strcmp(argv[1], "guest") == 0)
		return fake_guest_main(argv[2], strcmp(argv[3], "race") == 0 ? &race : &safe);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
