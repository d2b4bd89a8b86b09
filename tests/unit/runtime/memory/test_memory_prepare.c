/* Tests which sites are on, in which mode; atomics and fences. */
#include "support/memory_scene.h"

/* ---- sites that are on ---- */

/* Makes six runs of a program of this cost. Site 0 writes what site 1 reads, site 2 is private, and site 3 never runs. */
static void learn_sites_at_cost(uint32_t cost)
{
	memory->noted_cost = cost;
	memory->has_site_news = true;
	for (uint64_t number = 1; number < 6; number++) {
		run(number);
		access_by(0, 0, SITE_STORE, 0x100, 8);
		access_by(1, 1, SITE_LOAD, 0x100, 8);
		access_by(0, 2, SITE_STORE, 0x200, 8);
	}
	run(6);
}

static void learn_sites(void)
{
	learn_sites_at_cost(PROFILE_COST_MOST + 1);
}

static void test_memory__cheap_programs_have_all_sites_on(void **state)
{
	(void)state;
	learn_sites_at_cost(0);
	assert_false(memory->was_profile);
	assert_int_equal(memory->sites_on, 4);
	memory->noted_cost = PROFILE_COST_MOST + 1;
	run(7);
	assert_true(is_on(2)); /* the cost counts from the next version on */
	memory->has_site_news = true;
	run(8);
	assert_false(is_on(2));
}

/* At cost 2, a quarter of the blocks is profiled. Sites are switched only where such a block begins or ends. */
static void test_memory__programs_of_some_cost_are_profiled_in_blocks(void **state)
{
	uint32_t profiles = 0;

	(void)state;
	learn_sites_at_cost(2);
	assert_true(memory->was_profile);
	switches = 0;
	for (uint64_t number = 7; number < 8 * PROFILE_EVERY; number++) {
		run(number);
		assert_int_equal(memory->was_profile, number / PROFILE_EVERY % 4 == 0);
		assert_int_equal(is_on(2), memory->was_profile);
		profiles += memory->was_profile;
	}
	assert_int_equal(profiles, 2 * PROFILE_EVERY - 7);
	assert_int_equal(switches, 3);
}

static void test_memory__only_shared_and_unseen_sites_stay_on(void **state)
{
	(void)state;
	learn_sites();
	assert_false(memory->was_profile);
	assert_true(is_on(0));
	assert_true(is_on(1));
	assert_false(is_on(2));
	assert_true(is_on(3));
}

static void test_memory__profiling_runs_have_all_sites_on(void **state)
{
	(void)state;
	learn_sites();
	run(PROFILE_EVERY);
	assert_true(memory->was_profile);
	for (uint32_t site = 0; site < 4; site++)
		assert_true(is_on(site));
	run(PROFILE_EVERY + 1);
	assert_false(is_on(2));
}

static void test_memory__sites_are_left_alone_where_nothing_has_changed(void **state)
{
	(void)state;
	learn_sites();
	switches = 0;
	for (uint64_t number = 7; number < PROFILE_EVERY; number++)
		run(number);
	assert_int_equal(switches, 0);
}

static void test_memory__late_sharing_becomes_points(void **state)
{
	(void)state;
	learn_sites();
	run(PROFILE_EVERY);
	access_by(1, 2, SITE_LOAD, 0x200, 8);
	run(PROFILE_EVERY + 1);
	assert_int_equal(count_points(), 2);
	assert_true(memory->was_profile); /* which sites touch the new point is not known yet */
	access_by(0, 2, SITE_STORE, 0x200, 8);
	assert_int_equal(points, 1);
	run(PROFILE_EVERY + 2);
	assert_true(is_on(2));
}

/* The next run need not reach the allocation site. */
static void test_memory__late_sharing_is_waited_for(void **state)
{
	(void)state;
	learn_sites();
	run(PROFILE_EVERY);
	access_by(1, 2, SITE_LOAD, 0x200, 8);
	run(PROFILE_EVERY + 1);
	run(PROFILE_EVERY + 2);
	assert_true(is_on(2));
	access_by(0, 2, SITE_STORE, 0x200, 8);
	assert_int_equal(points, 1);
	access_by(0, 3, SITE_STORE, 0x900, 8); /* its own: met once more, and off */
	run(PROFILE_EVERY + 3);
	assert_true(is_on(2));
	assert_false(is_on(3));
}

/* ---- modes ---- */

static void test_memory__frozen_learns_nothing(void **state)
{
	(void)state;
	learn_sites();
	memory->is_frozen = 1;
	run(PROFILE_EVERY);
	assert_false(is_on(2));
	access_by(1, 3, SITE_LOAD, 0x200, 8);
	access_by(0, 0, SITE_STORE, 0x100, 8);
	assert_int_equal(points, 1);
	assert_int_equal(memory->newly_shared, 0);
	assert_int_equal(memory->sites[3] & SITE_SEEN, 0);
}

static void test_memory__none_and_all(void **state)
{
	(void)state;
	learn_sites();
	memory->mode = MEMORY_NONE;
	run(PROFILE_EVERY);
	assert_int_equal(memory->sites_on, 0);
	access_by(0, 0, SITE_STORE, 0x100, 8);
	assert_int_equal(points, 0);
	memory->mode = MEMORY_ALL;
	run(2 * PROFILE_EVERY);
	assert_int_equal(memory->sites_on, 4);
	access_by(0, 2, SITE_STORE, 0x200, 8);
	assert_int_equal(points, 1);
}

static void test_memory__chosen_sites_and_variables(void **state)
{
	const variable_name name = memory_variable_name((void *)0x200);

	(void)state;
	learn_sites();
	memory->mode = MEMORY_CHOSEN;
	memory->sites[2] |= SITE_CHOSEN;
	memory->has_site_news = 1;
	run(7);
	assert_true(is_on(2));
	access_by(0, 2, SITE_STORE, 0x200, 8); /* its variable is neither chosen nor shared */
	access_by(0, 0, SITE_STORE, 0x100, 8); /* its site is not chosen */
	assert_int_equal(points, 0);
	memory_find_variable(memory, name, true)->flags |= VARIABLE_CHOSEN;
	run(8);
	access_by(0, 2, SITE_STORE, 0x200, 8);
	assert_int_equal(points, 1);
}

/* ---- atomics and fences ---- */

static void test_memory__detectors_learn_of_atomics_that_are_no_points(void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_ATOMIC_STORE, 0x100, 8);
	assert_int_equal(notes, 0);
	contract.plan.detectors = 1;
	access_by(0, 0, SITE_ATOMIC_STORE, 0x100, 8);
	access_by(0, 0, SITE_STORE, 0x100, 8);
	assert_int_equal(notes, 1);
	assert_int_equal(points, 0);
}

/* A race detector sees all atomics. Replays without the detector have the same sites only if these
 * sites are marked as on. */
static void test_memory__atomics_are_on_for_the_race_detector(void **state)
{
	(void)state;
	kind_of_sites = SITE_ATOMIC_STORE;
	learn_sites();
	assert_false(is_on(2));
	contract.plan.detectors = 1;
	memory->must_switch = true;
	run(7);
	assert_true(is_on(2));
}

/* Only another thread ends a waiting loop, so its read must block in runs that need other accesses only. */
static void test_memory__waiting_loops_are_on_in_partial_runs(void **state)
{
	(void)state;
	kind_of_sites = SITE_ATOMIC_LOAD;
	learn_sites();
	memory->is_partial = memory->must_switch = true;
	memory_switch_sites();
	assert_false(is_on(2));
	flags_of_sites = SITE_WAITS;
	memory->must_switch = true;
	memory_switch_sites();
	assert_true(is_on(2));
}

/* The free of another thread makes memory shared. Race detectors see the free of shared memory. */
static void test_memory_freed__is_a_write_that_shares_memory(void **state)
{
	(void)state;
	memory->mode = MEMORY_RACES;
	run(1);
	access_by(0, 0, SITE_LOAD, 0x820, 8);
	current = &threads[1];
	live.is_used = true;
	contract.plan.detectors = 1;
	memory_freed((void *)0x800, 1);
	assert_int_equal(notes, 0); /* the block is not shared yet */
	contract.plan.detectors = 0;
	run(2);
	assert_int_equal(count_points(), 1);
	contract.plan.detectors = 1;
	memory_freed((void *)0x820, 1);
	memory_freed((void *)0x100, 1);
	assert_int_equal(notes, 0); /* these addresses are no blocks */
	live.is_used = false;
	memory_freed((void *)0x800, 1);
	assert_int_equal(notes, 0); /* no thread has accessed it */
	live.is_used = true;
	memory_freed((void *)0x800, 1);
	assert_int_equal(notes, 1);
	assert_int_equal(points, 0);
}

static void test_memory_freed__is_a_point_where_the_memory_is_shared(void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_STORE, 0x818, 8);
	access_by(1, 0, SITE_LOAD, 0x818, 8);
	run(2);
	live.is_used = false;
	memory_freed((void *)0x800, 9);
	assert_int_equal(points, 0);
	live.is_used = true;
	memory_freed((void *)0x800, 9);
	assert_int_equal(points, 1);
	assert_int_equal(last_op.kind, OP_STORE);
	assert_int_equal(last_op.bytes, 64);
	assert_int_equal(last_op.site, 8); /* within the call */
	assert_int_equal(failed.kind, OUTCOME_NONE);
}

/* An access or free after the free fails when it is executed. */
static void test_memory_freed__ends_the_run_of_a_later_user(void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_STORE, 0x818, 8);
	access_by(1, 0, SITE_LOAD, 0x818, 8);
	run(2);
	access_by(0, 0, SITE_STORE, 0x818, 8);
	assert_int_equal(failed.kind, OUTCOME_NONE);
	freed_end = 0x840;
	access_by(0, 0, SITE_STORE, 0x818, 8);
	assert_int_equal(failed.kind, OUTCOME_USE_AFTER_FREE);
	assert_int_equal(failed.address, 0x818);
	assert_int_equal(failed.other_site, 70);
	assert_int_equal(failed.other_step, 7);
	assert_int_equal(failed.other_thread.index, 1);
	memory_freed((void *)0x800, 9);
	assert_int_equal(failed.kind, OUTCOME_DOUBLE_FREE);
}

/* Only one thread has accessed the variable before the free, or none. */
static void test_memory_freed__ends_the_run_of_a_first_user(void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_STORE, 0x900, 8);
	memory_renamed(0x900, 8);
	freed_end = 0x908;
	memory->sites[1] |= SITE_RESTED; /* would be off in a replay */
	access_by(0, 1, SITE_STORE, 0x900, 8);
	assert_int_equal(failed.kind, OUTCOME_NONE);
	memory_renamed(0x900, 8);
	access_by(0, 0, SITE_STORE, 0x900, 8);
	assert_int_equal(failed.kind, OUTCOME_USE_AFTER_FREE);
	assert_int_equal(points, 0);
	assert_int_equal(memory->failed_site, 1);
}

/* A thread writes a local of main's function, which returns before the third write. */
static void test_memory__ends_the_run_in_the_frame_of_a_function_that_returned(void **state)
{
	const uintptr_t local = 0x7fe000;

	(void)state;
	runtime.main_base = 0x7ff000;
	run(1);
	access_by(1, 0, SITE_STORE, local, 8);
	access_by(1, 0, SITE_STORE, local, 8);
	assert_int_equal(left_frames, 0);
	left_end = local + 8;
	access_by(1, 0, SITE_STORE, local, 8);
	assert_int_equal(left_frames, 1);
	memory->sites[0] |= SITE_RESTED;
	access_by(1, 0, SITE_STORE, local, 8);
	assert_int_equal(left_frames, 1);
	runtime.main_base = 0;
}

/* With a race detector, plain accesses are points only after their variable has raced. */
static void test_memory__plain_accesses_are_reported_until_they_race(void **state)
{
	(void)state;
	memory->mode = MEMORY_RACES;
	contract.plan.detectors = 1;
	run(1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(1, 1, SITE_LOAD, 0x100, 4);
	assert_int_equal(points + notes, 0); /* the variable is not known to be shared */
	run(2);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(0, 0, SITE_STORE, 0x104, 16);
	assert_int_equal(notes, 2);
	reports_quickly = true;
	access_by(0, 0, SITE_STORE, 0x100, 4);
	assert_int_equal(reported, 1);
	access_by(0, 0, SITE_STORE, 0x104, 16); /* one variable after the other */
	assert_int_equal(reported, 4);
	assert_int_equal(notes, 2);
	assert_int_equal(points, 0);
	access_by(1, 1, SITE_ATOMIC_LOAD, 0x100, 4);
	assert_int_equal(points, 1);
	assert_true(memory_take_change());
	memory_raced((void *)0x100);
	memory_raced((void *)0x100);
	assert_int_equal(memory->newly_shared, 1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	assert_int_equal(points, 1); /* points begin with the next run */
	run(3);
	assert_true(memory_take_change());
	assert_int_equal(count_points(), 1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	assert_int_equal(points, 1);
}

/* Other runs of the round may have been made by another worker. */
static void test_memory_freed__depends_on_no_other_run_of_the_round(void **state)
{
	(void)state;
	contract.plan.detectors = 1;
	contract.plan.round_runs = 4;
	live.is_used = true;
	run(1);
	access_by(0, 0, SITE_STORE, 0x820, 8);
	run(2);
	current = &threads[1];
	memory_freed((void *)0x800, 1);
	assert_int_equal(memory->newly_shared, 0);
	access_by(0, 0, SITE_STORE, 0x820, 8);
	current = &threads[1];
	memory_freed((void *)0x800, 1);
	assert_int_equal(memory->newly_shared, 1);
}

static void test_memory__only_racy_sites_and_atomics_make_points(void **state)
{
	(void)state;
	memory->mode = MEMORY_RACY_SITES;
	contract.plan.detectors = 1;
	for (uint64_t number = 1; number < 4; number++) {
		run(number);
		assert_true(memory->was_profile);
		access_by(0, 0, SITE_STORE, 0x100, 4);
		access_by(1, 1, SITE_LOAD, 0x100, 4);
	}
	assert_int_equal(points, 0);
	assert_int_equal(notes, 4);
	memory_note_racy_site(memory, 0);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	assert_int_equal(points, 0); /* points begin with the next version */
	assert_int_equal(memory->newly_racy, 1);
	contract.plan.detectors = 0;
	run(5);
	assert_int_equal(memory->points_version, memory->version);
	assert_false(memory->was_profile);
	assert_true(is_on(0));
	assert_false(is_on(1));
	access_by(0, 0, SITE_STORE, 0x200, 4); /* one thread */
	access_by(1, 1, SITE_LOAD, 0x100, 4);
	assert_int_equal(points, 0);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	assert_int_equal(points, 1);
	access_by(1, 1, SITE_ATOMIC_LOAD, 0x100, 4);
	assert_int_equal(points, 2);
	run(15);
	assert_true(memory->was_profile);
	run(16);
	assert_false(memory->was_profile);
}

/* Where runs are long, the interval between watched runs grows twice. */
static void test_memory__watches_long_runs_ever_less_often(void **state)
{
	uint32_t counts[2] = {0};

	(void)state;
	for (uint64_t number = 17; number < 1024; number++) {
		memory->mode = MEMORY_LEARN;
		counts[0] += memory_watches_run(number);
		memory->mode = MEMORY_RACY_SITES;
		contract.plan.runs_before = number;
		contract.plan.round_first = number;
		counts[1] += memory_watches_run(number);
	}
	assert_int_equal(counts[0], 67); /* 30 to 1020 */
	/* 30 to 105, 124 to 217, 252 to 1008 */
	assert_int_equal(counts[1], 6 + 4 + 13);
}

/* The accesses are no scheduling points. */
static void test_memory_freed__ends_the_run_at_racy_sites_and_others(void **state)
{
	(void)state;
	memory->mode = MEMORY_RACY_SITES;
	run(1);
	access_by(0, 0, SITE_STORE, 0x818, 8);
	access_by(1, 1, SITE_LOAD, 0x818, 8);
	run(2);
	access_by(1, 1, SITE_LOAD, 0x818, 8);
	assert_int_equal(failed.kind, OUTCOME_NONE);
	freed_end = 0x840;
	access_by(1, 1, SITE_LOAD, 0x818, 8);
	assert_int_equal(failed.kind, OUTCOME_USE_AFTER_FREE);
	assert_int_equal(points, 0);
	assert_int_equal(memory->failed_site, 1 + 1);
	run(3);
	assert_int_equal(memory->failed_site, 0);
}

static void test_memory__fences_are_points_and_stay_on(void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_FENCE, 0, 0);
	assert_int_equal(points, 1);
	assert_int_equal(last_op.kind, OP_FENCE);
	for (uint64_t number = 2; number < 6; number++)
		run(number);
	assert_true(is_on(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_memory__cheap_programs_have_all_sites_on),
		TEST(test_memory__programs_of_some_cost_are_profiled_in_blocks),
		TEST(test_memory__only_shared_and_unseen_sites_stay_on),
		TEST(test_memory__profiling_runs_have_all_sites_on),
		TEST(test_memory__sites_are_left_alone_where_nothing_has_changed),
		TEST(test_memory__late_sharing_becomes_points),
		TEST(test_memory__late_sharing_is_waited_for),
		TEST(test_memory__frozen_learns_nothing),
		TEST(test_memory__none_and_all),
		TEST(test_memory__chosen_sites_and_variables),
		TEST(test_memory__detectors_learn_of_atomics_that_are_no_points),
		TEST(test_memory__atomics_are_on_for_the_race_detector),
		TEST(test_memory__waiting_loops_are_on_in_partial_runs),
		TEST(test_memory_freed__is_a_write_that_shares_memory),
		TEST(test_memory_freed__is_a_point_where_the_memory_is_shared),
		TEST(test_memory_freed__ends_the_run_of_a_later_user),
		TEST(test_memory_freed__ends_the_run_of_a_first_user),
		TEST(test_memory__ends_the_run_in_the_frame_of_a_function_that_returned),
		TEST(test_memory__plain_accesses_are_reported_until_they_race),
		TEST(test_memory_freed__depends_on_no_other_run_of_the_round),
		TEST(test_memory_freed__ends_the_run_at_racy_sites_and_others),
		TEST(test_memory__only_racy_sites_and_atomics_make_points),
		TEST(test_memory__watches_long_runs_ever_less_often),
		TEST(test_memory__fences_are_points_and_stay_on),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
