#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "process/children.h"
#include "investigate/confirm.h"
#include "investigate/minimise/fewer_preemptions.h"
#include "investigate/investigate.h"
#include "investigate/minimise/minimise.h"
#include "investigate/minimise/sampled_preemptions.h"
#include "investigate/minimise/tries.h"
#include "strategies/strategy.h"
#include "support/seeds.h"
#include "support/fake_guest.h"

/* Fails only when the reader reads between the two writes; the rest does not matter. */
static const struct simulated_op busy[] = {READ(1), READ(2), READ(1), READ(2)};
static const struct simulated_op writer[] = {
	READ(1), READ(2), SET(0, 1), READ(1), SET(0, 0), READ(2)};
static const struct simulated_op reader[] = {READ(2), READ(1), EXPECT(0, 0), READ(1)};
static const struct simulated_code window_codes[] = {
	CODE_REPEATED(busy, 4), CODE(writer), CODE(reader), CODE_REPEATED(busy, 4)};
static const struct simulated_program window = {
	.codes = window_codes, .code_count = 4, .initial_count = 4};

static const struct simulated_op up[] = {READ(1), LOCK(0), READ(1), LOCK(1), UNLOCK(1), UNLOCK(0)};
static const struct simulated_op down[] = {LOCK(1), READ(2), LOCK(0), UNLOCK(0), UNLOCK(1)};
static const struct simulated_code cross_codes[] = {CODE(busy), CODE(up), CODE(down), CODE(up)};
static const struct simulated_program cross = {
	.codes = cross_codes, .code_count = 4, .initial_count = 4};

/* Two wait, two signal; it fails when a certain one is woken first. Values matter here. */
static const struct simulated_op first_waits[] = {LOCK(0), WAIT(0, 0), ADVANCE(0, 0), UNLOCK(0)};
static const struct simulated_op second_waits[] = {LOCK(0), WAIT(0, 0), REFUSE(0, 0), UNLOCK(0)};
static const struct simulated_op signals[] = {
	READ(1), READ(2), LOCK(0), SIGNAL(0), UNLOCK(0), READ(2), LOCK(0), SIGNAL(0), UNLOCK(0)};
static const struct simulated_code waits_codes[] = {
	CODE(signals), CODE(first_waits), CODE(second_waits)};
static const struct simulated_program waits = {
	.codes = waits_codes, .code_count = 3, .initial_count = 3};

/* One thread tests a flag up to 250 times, one sets it, and the run fails in any case. */
static const struct simulated_op starts[] = {CREATE(1), CREATE(2), JOIN(0), EXPECT(1, 1)};
static const struct simulated_op looks[] = {READ(2), READ(2), LEAVE(0, 1), READ(2)};
static const struct simulated_op sets_flag[] = {SET(0, 1)};
static const struct simulated_code looks_codes[] = {
	CODE(starts), CODE_REPEATED(looks, 250), CODE(sets_flag)};
static const struct simulated_program long_look = {
	.codes = looks_codes, .code_count = 3, .initial_count = 1};

/* Fails only when four operations on variable 0 alternate: three preemptions among many steps. */
static const struct simulated_op goes_first[] = {
	READ(1), READ(2), SET(0, 1), READ(1), ADVANCE(0, 2), READ(2), SET(0, 0)};
static const struct simulated_op goes_second[] = {
	READ(2), READ(1), ADVANCE(0, 1), READ(1), READ(2), REFUSE(0, 3), READ(1)};
static const struct simulated_code alternate_codes[] = {
	CODE_REPEATED(busy, 4), CODE(goes_first), CODE(goes_second), CODE_REPEATED(busy, 4)};
static const struct simulated_program alternate = {
	.codes = alternate_codes, .code_count = 4, .initial_count = 4};

static const struct {
	const char *name;
	const struct simulated_program *program;
} programs[] = {{"window", &window}, {"cross", &cross}, {"waits", &waits}, {"looks", &long_look},
	{"alternate", &alternate}};

static const volatile int never;

struct fixture {
	struct target target;
	char *argv[5];
	struct settings settings;
	struct probe_params params;
};

static void open_fixture(struct fixture *fixture, unsigned program)
{
	memset(fixture, 0, sizeof *fixture);
	children_init();
	fixture->target.path = realpath("/proc/self/exe", NULL);
	fixture->argv[0] = fixture->target.path;
	fixture->argv[1] = (char *)"guest";
	fixture->argv[2] = (char *)"run";
	fixture->argv[3] = (char *)programs[program].name;
	settings_init(&fixture->settings);
	fixture->params = (struct probe_params){
		.worker = {.target = &fixture->target, .argv = fixture->argv},
		.settings = &fixture->settings,
		.restart = RESTART_REWIND,
		.is_interrupted = &never,
	};
}

static void close_fixture(struct fixture *fixture)
{
	free(fixture->target.path);
	settings_release(&fixture->settings);
}

/* The first failing random run from this seed on, as the campaign would take it. */
static void find_failure(struct fixture *fixture, uint64_t seed, struct failure *failure)
{
	struct worker_params params = fixture->params.worker;
	struct contract_plan *plan;
	enum contract_report report;
	struct worker worker;
	struct error err;

	params.sizes.strategy_bytes = 1 << 20;
	assert_int_equal(worker_open(&worker, &params, &err), 0);
	plan = &worker.contract->plan;
	plan->seed = seed;
	plan->stop_at_failure = true;
	plan->run_limit = 100000;
	plan->strategy_config.thread_capacity = THREAD_CAPACITY;
	while (strategies[plan->strategy] != &strategy_random)
		plan->strategy++;
	worker_clear_strategy(&worker, 1 << 20);
	assert_int_equal(worker_run(&worker, &never, &report, &err), 0);
	assert_int_equal(report, REPORT_FAILURE);
	failure_take(failure, worker.contract);
	worker_close(&worker);
}

static void minimise_from_seed(
	unsigned program, uint64_t seed, uint32_t preemptions_most, uint32_t switches_most)
{
	struct minimise_params params = {
		.budget = {.runs = 5000, .time_ns = UINT64_C(60000000000)}};
	struct confirmation confirmation;
	struct failure failure = {0};
	struct fixture fixture;
	enum outcome_kind kind;
	const char *incomplete;
	struct error err;

	open_fixture(&fixture, program);
	find_failure(&fixture, seed, &failure);
	kind = (enum outcome_kind)failure.outcome.kind;
	params.probe = fixture.params;
	if (minimise(&failure, &params, &incomplete, &err) < 0)
		fail_msg("%s", err.text);
	assert_null(incomplete);
	assert_int_equal(failure.outcome.kind, kind);
	if (failure.preemptions > preemptions_most || failure.switches > switches_most)
		fail_msg("%s, seed %llu: %u preemptions and %u switches are left",
			programs[program].name, (unsigned long long)seed, failure.preemptions,
			failure.switches);
	assert_int_equal(confirm(&confirmation, &failure, &fixture.params, 0, &err), 0);
	assert_int_equal(confirmation.failed_again, CONFIRM_REPLAYS);
	failure_release(&failure);
	close_fixture(&fixture);
}

/* Several workers leave the same minimised failure as one, after the same number of runs. Returns
 * the number of speculative runs. */
static uint64_t compare_workers(
	unsigned program, uint64_t seed, uint32_t workers, uint64_t runs_most)
{
	struct minimise_params params = {
		.budget = {.runs = runs_most, .time_ns = UINT64_C(600000000000)}};
	struct failure found = {0}, one = {0}, many = {0}, again = {0};
	const char *incomplete_by_one, *incomplete;
	struct fixture fixture;
	struct tries tries;
	uint64_t ahead;

	open_fixture(&fixture, program);
	find_failure(&fixture, seed, &found);
	failure_copy(&one, &found);
	failure_copy(&many, &found);
	failure_copy(&again, &found);
	params.probe = fixture.params;
	assert_int_equal(minimise(&one, &params, &incomplete_by_one, NULL), 0);
	tries_init(&tries, &params.probe, workers);
	tries.parallel_from_ns = 0;
	params.ahead = &tries.ahead;
	assert_int_equal(minimise(&many, &params, &incomplete, NULL), 0);
	ahead = tries.ahead_runs;
	assert_int_equal(tries.count, 0); /* the minimiser's own probe no longer exists */
	assert_int_equal(minimise(&again, &params, &incomplete, NULL), 0);
	tries_release(&tries);
	assert_int_equal(again.segment_count, one.segment_count);
	assert_memory_equal(again.segments, one.segments, one.segment_count * sizeof *one.segments);
	assert_ptr_equal(incomplete, incomplete_by_one);
	assert_int_equal(many.segment_count, one.segment_count);
	assert_memory_equal(many.segments, one.segments, one.segment_count * sizeof *one.segments);
	assert_memory_equal(&many.outcome, &one.outcome, sizeof one.outcome);
	assert_int_equal(many.step_count, one.step_count);
	failure_release(&found);
	failure_release(&one);
	failure_release(&many);
	failure_release(&again);
	close_fixture(&fixture);
	return ahead;
}

/* A candidate that has become longer than a run that counts ends there. */
static void test_probe__ends_a_run_at_the_step_limit_of_its_plan(void **state)
{
	struct failure failure = {0};
	struct fixture fixture;
	struct probe probe;
	struct probe_plan plan;

	(void)state;
	open_fixture(&fixture, 3); /* each run fails at its end */
	find_failure(&fixture, 1, &failure);
	assert_int_equal(probe_open(&probe, &fixture.params, NULL), 0);
	plan = probe_plan_exact(&failure);
	plan.step_limit = failure.step_count / 2;
	assert_int_equal(probe_run(&probe, &plan, NULL), 0);
	assert_false(probe_shows(&probe, &failure));
	assert_int_equal(probe.worker.contract->outcome.step, plan.step_limit);
	plan.step_limit = failure_step_limit(&failure, failure.step_count);
	assert_int_equal(probe_run(&probe, &plan, NULL), 0);
	assert_true(probe_shows(&probe, &failure));
	plan.step_limit = 0;
	assert_int_equal(probe_run(&probe, &plan, NULL), 0);
	assert_true(probe_shows(&probe, &failure));
	failure.stall_count = 1;
	assert_int_equal(failure_step_limit(&failure, failure.step_count), 0);
	probe_close(&probe);
	failure_release(&failure);
	close_fixture(&fixture);
}

static void test_minimise__leaves_the_same_with_any_number_of_workers(void **state)
{
	uint64_t ahead = 0;

	(void)state;
	for (unsigned program = 0; program < 3; program++)
		for (uint64_t seed = test_seeds(4); seed; seed--)
			for (uint32_t workers = 2; workers <= 5; workers += 3) {
				ahead += compare_workers(program, seed, workers, 5000);
				(void)compare_workers(program, seed, workers, 9 + seed);
			}
	assert_true(ahead > 0);
}

static void test_minimise__leaves_one_preemption_where_one_is_enough(void **state)
{
	(void)state;
	for (uint64_t seed = test_seeds(12); seed; seed--)
		minimise_from_seed(0, seed, 1, 2);
}

static void test_minimise__leaves_one_preemption_of_a_deadlock(void **state)
{
	(void)state;
	for (uint64_t seed = test_seeds(12); seed; seed--)
		minimise_from_seed(1, seed, 1, 3);
}

static void test_minimise__keeps_the_value_choices_it_needs(void **state)
{
	(void)state;
	for (uint64_t seed = test_seeds(12); seed; seed--)
		minimise_from_seed(2, seed, 2, 4);
}

/* A run without preemptions would be a thousand steps long. */
static void test_minimise__does_not_lengthen_the_run(void **state)
{
	struct minimise_params params = {
		.budget = {.runs = 5000, .time_ns = UINT64_C(60000000000)}};
	struct failure failure = {0};
	struct fixture fixture;
	uint64_t found, shortened = 0;
	const char *incomplete;

	(void)state;
	open_fixture(&fixture, 3);
	params.probe = fixture.params;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		find_failure(&fixture, seed, &failure);
		found = failure.step_count;
		shortened += found < 200;
		assert_int_equal(minimise(&failure, &params, &incomplete, NULL), 0);
		assert_in_range(failure.step_count, 1, found);
		failure_release(&failure);
	}
	assert_true(shortened > 0);
	close_fixture(&fixture);
}

static void test_minimise__stops_at_its_budget_with_a_failing_schedule(void **state)
{
	struct minimise_params params = {.budget = {.runs = 3, .time_ns = UINT64_C(60000000000)}};
	struct failure failure = {0};
	struct failure found = {0};
	struct fixture fixture;
	const char *incomplete;
	struct error err;

	(void)state;
	open_fixture(&fixture, 0);
	find_failure(&fixture, 3, &failure);
	failure_copy(&found, &failure);
	params.probe = fixture.params;
	assert_int_equal(minimise(&failure, &params, &incomplete, &err), 0);
	assert_string_equal(incomplete, "minimising reached its limit of runs or time");
	assert_int_equal(failure_key(&failure.outcome), failure_key(&found.outcome));
	assert_in_range(failure.preemptions, 0, found.preemptions);
	failure_release(&failure);
	failure_release(&found);
	close_fixture(&fixture);
}

/* The window needs one preemption: the search finds such a run, then those with fewer switches, and in
 * the end none. */
static void test_fewer_preemptions__finds_the_fewest(void **state)
{
	struct fewer_preemptions search = {
		.budget = {.runs = 20000, .time_ns = UINT64_C(60000000000)},
		.steps_most = UINT64_MAX};
	struct failure failure = {0};
	struct fixture fixture;
	struct error err;

	(void)state;
	open_fixture(&fixture, 0);
	find_failure(&fixture, 3, &failure);
	assert_in_range(failure.preemptions, 2, UINT32_MAX);
	search.probe = fixture.params;
	assert_int_equal(fewer_preemptions_search(&search, &failure, &err), 0);
	assert_true(search.is_found);
	for (uint32_t i = 0; i < 10 && search.is_found; i++) {
		assert_int_equal(failure.preemptions, 1);
		assert_int_equal(fewer_preemptions_search(&search, &failure, &err), 0);
	}
	assert_false(search.is_found);
	assert_false(search.is_cut_off);
	failure_release(&failure);
	close_fixture(&fixture);
}

/* Sampling at the sites of the found run needs few runs; a search among all preemptions needs more. */
static void test_sampled_preemptions__finds_few_preemptions_in_few_runs(void **state)
{
	uint32_t by_icb = 0;

	(void)state;
	for (uint64_t seed = test_seeds(6); seed; seed--) {
		struct fewer_preemptions search = {
			.budget = {.runs = 1000, .time_ns = UINT64_C(60000000000)},
			.steps_most = UINT64_MAX};
		struct failure failure = {0}, found = {0};
		struct fixture fixture;

		open_fixture(&fixture, 4);
		find_failure(&fixture, seed, &failure);
		failure_copy(&found, &failure);
		search.probe = fixture.params;
		assert_in_range(failure.preemptions, 4, UINT32_MAX);
		assert_int_equal(fewer_preemptions_search(&search, &found, NULL), 0);
		by_icb += found.preemptions < failure.preemptions;
		assert_int_equal(sampled_preemptions_search(&search, 1, &failure, NULL), 0);
		assert_in_range(failure.preemptions, 3, 4);
		failure_release(&failure);
		failure_release(&found);
		close_fixture(&fixture);
	}
	assert_int_equal(by_icb, 0);
}

/* A deadlock depends on operations that never happen. */
static void test_sampled_preemptions__finds_few_preemptions_of_a_deadlock(void **state)
{
	(void)state;
	for (uint64_t seed = test_seeds(12); seed; seed--) {
		struct fewer_preemptions search = {
			.budget = {.runs = 200, .time_ns = UINT64_C(60000000000)},
			.steps_most = UINT64_MAX};
		struct failure failure = {0};
		struct fixture fixture;

		open_fixture(&fixture, 1);
		find_failure(&fixture, seed, &failure);
		search.probe = fixture.params;
		assert_int_equal(sampled_preemptions_search(&search, 1, &failure, NULL), 0);
		assert_in_range(failure.preemptions, 1, 2);
		failure_release(&failure);
		close_fixture(&fixture);
	}
}

/* No run without preemptions fails, so three runs decide nothing. */
static void test_fewer_preemptions__says_that_its_budget_ended_it(void **state)
{
	struct fewer_preemptions search = {.budget = {.runs = 3, .time_ns = UINT64_C(60000000000)}};
	struct failure failure = {0};
	struct fixture fixture;
	uint32_t found;

	(void)state;
	open_fixture(&fixture, 0);
	find_failure(&fixture, 3, &failure);
	found = failure.preemptions;
	search.probe = fixture.params;
	assert_int_equal(fewer_preemptions_search(&search, &failure, NULL), 0);
	assert_false(search.is_found);
	assert_true(search.is_cut_off);
	assert_int_equal(failure.preemptions, found);
	failure_release(&failure);
	close_fixture(&fixture);
}

static void test_confirm__notices_a_schedule_that_does_not_fit(void **state)
{
	struct confirmation confirmation;
	struct failure failure = {0};
	struct fixture fixture;
	struct error err;

	(void)state;
	open_fixture(&fixture, 1);
	find_failure(&fixture, 1, &failure);
	/* The thread that moves first ends long before it could take so many steps. */
	failure.segments[0].count = 1000;
	assert_int_equal(confirm(&confirmation, &failure, &fixture.params, 0, &err), 0);
	assert_int_equal(confirmation.replays, CONFIRM_REPLAYS);
	assert_int_equal(confirmation.diverged, CONFIRM_REPLAYS);
	assert_int_equal(confirmation.failed_again, 0);
	assert_false(confirmation_is_repeatable(&confirmation));
	failure_release(&failure);
	close_fixture(&fixture);
}

/* The time is up: what a finding can do without is left out, and named; one replay and the trace there are. */
static void test_investigate__leaves_out_what_there_is_no_time_for(void **state)
{
	const unsigned all = 1u << PART_REPLAYS | 1u << PART_MINIMISING | 1u << PART_PASSING_RUN;
	struct investigation investigation = {.until_ns = 1, .workers = 1};
	const struct memory_view nothing_known = {0};
	struct failure failure = {0}, found = {0};
	struct finding finding;
	struct fixture fixture;
	struct error err;

	(void)state;
	open_fixture(&fixture, 0);
	find_failure(&fixture, 1, &failure);
	failure_copy(&found, &failure);
	investigation.probe = fixture.params;
	investigation.probe.memory = &nothing_known;
	assert_int_equal(investigate(&investigation, &failure, &finding, &err), 0);
	assert_int_equal(investigation.confirmation.replays, 1);
	assert_true(confirmation_is_repeatable(&investigation.confirmation));
	assert_int_equal(investigation.left_out, all);
	assert_int_equal(failure.segment_count, found.segment_count);
	assert_int_equal(finding.replays, 1);
	finding_release(&finding);
	/* If there is no limit, nothing is left out. */
	investigation.until_ns = 0;
	assert_int_equal(investigate(&investigation, &failure, &finding, &err), 0);
	assert_int_equal(investigation.confirmation.replays, CONFIRM_REPLAYS);
	assert_int_equal(investigation.left_out, 0);
	assert_true(failure.preemptions <= found.preemptions);
	finding_release(&finding);
	failure_release(&failure);
	failure_release(&found);
	close_fixture(&fixture);
}

/* The bound of the depth fits the schedule beside it. */
static void test_investigate__states_a_depth_that_fits_the_preemptions(void **state)
{
	const struct memory_view nothing_known = {0};
	uint32_t known = 0;

	(void)state;
	for (uint64_t seed = test_seeds(6); seed; seed--)
		for (unsigned program = 0; program < 5; program += 1 + (program == 2)) {
			struct investigation investigation = {.workers = 1, .measures_depth = true};
			struct failure failure = {0};
			struct finding finding;
			struct fixture fixture;
			struct error err;

			open_fixture(&fixture, program);
			find_failure(&fixture, seed, &failure);
			investigation.probe = fixture.params;
			investigation.probe.memory = &nothing_known;
			assert_int_equal(investigate(&investigation, &failure, &finding, &err), 0);
			if (finding.depth > finding.preemptions + 1)
				fail_msg("%s, seed %llu: depth %u of %u preemptions",
					programs[program].name, (unsigned long long)seed,
					finding.depth, finding.preemptions);
			known += finding.depth > 0;
			finding_release(&finding);
			failure_release(&failure);
			close_fixture(&fixture);
		}
	assert_true(known > 0);
}

static int be_guest(const char *behaviour, const char *name)
{
	for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
		if (strcmp(programs[i].name, name) == 0)
			return fake_guest_main(behaviour, programs[i].program);
	return 124;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minimise__leaves_one_preemption_where_one_is_enough),
		cmocka_unit_test(test_minimise__leaves_one_preemption_of_a_deadlock),
		cmocka_unit_test(test_minimise__keeps_the_value_choices_it_needs),
		cmocka_unit_test(test_minimise__does_not_lengthen_the_run),
		cmocka_unit_test(test_minimise__stops_at_its_budget_with_a_failing_schedule),
		cmocka_unit_test(test_probe__ends_a_run_at_the_step_limit_of_its_plan),
		cmocka_unit_test(test_minimise__leaves_the_same_with_any_number_of_workers),
		cmocka_unit_test(test_fewer_preemptions__finds_the_fewest),
		cmocka_unit_test(test_sampled_preemptions__finds_few_preemptions_in_few_runs),
		cmocka_unit_test(test_sampled_preemptions__finds_few_preemptions_of_a_deadlock),
		cmocka_unit_test(test_fewer_preemptions__says_that_its_budget_ended_it),
		cmocka_unit_test(test_confirm__notices_a_schedule_that_does_not_fit),
		cmocka_unit_test(test_investigate__leaves_out_what_there_is_no_time_for),
		cmocka_unit_test(test_investigate__states_a_depth_that_fits_the_preemptions),
	};

	if (argc > 3 && strcmp(argv[1], "guest") == 0)
		return be_guest(argv[2], argv[3]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
