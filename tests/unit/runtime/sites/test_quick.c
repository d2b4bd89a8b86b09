/* Tests accesses from the thunk, and the fast path past the engine. */
#include "support/memory_scene.h"

/* ---- accesses from the thunk ---- */

static void test_site_reached__measures_strings_and_ranges(void **state)
{
	static const struct site_record string = {.kind = SITE_STRING_READ};
	static const struct site_record copy = {.kind = SITE_STRING_WRITE};
	static const struct site_record range = {.kind = SITE_RANGE_WRITE};
	static const struct site_record append = {.kind = SITE_STRING_WRITE, .bytes = SITE_APPENDS};
	static const char there[] = "there";

	(void)state;
	current = threads;
	memory->mode = MEMORY_ALL;
	run(1);
	assert_true(site_reached("four", SIZE_MAX, &string, 0));
	site_perform();
	assert_int_equal(last_op.bytes, 5);
	assert_true(site_reached((void *)0x100, (size_t) "to", &copy, 0));
	site_perform();
	assert_int_equal(last_op.bytes, 3);
	assert_int_equal(last_op.kind, OP_STORE);
	assert_true(site_reached((void *)0x100, 40, &range, 0));
	site_perform();
	assert_int_equal(last_op.bytes, 40);
	assert_false(site_reached((void *)0x100, 0, &range, 0));
	assert_false(site_reached((void *)0x100, 0, &copy, 0)); /* the call was given no string */
	assert_true(site_reached(there, (size_t) "to", &append, 0));
	site_perform();
	assert_ptr_equal(last_op.address, there + 5);
	assert_int_equal(last_op.bytes, 3);
}

/* ---- the short way ---- */

/* Performs an access of four bytes at site 0, like the thunk and site_reached(). Returns true if
 * the access needs no more work. */
static bool passes(unsigned thread, uint8_t kind, uintptr_t address)
{
	const struct site_record record = {.kind = kind, .bytes = 4};

	if (current != &threads[thread]) { /* same as in the engine */
		sites_quick->epoch = sites_now.engine.epoch += ENGINE_EPOCH;
		sites_now.engine.slice_key = sites_now.engine.slice_tag = 0;
	}
	current = &threads[thread];
	if (quick_is_repeated(sites_quick, &sites_now, address, quick_properties(kind, 0, 4)))
		return true;
	return !site_reached((void *)address, 0, &record, 0);
}

/* The third run, with a variable that two threads have used. */
static void begin_quickly(void)
{
	memory->mode = MEMORY_RACES;
	contract.plan.detectors = 1;
	has_detector = reports_quickly = true;
	for (uint64_t number = 1; number < 4; number++) {
		run(number);
		quick_begin_run();
		assert_true(passes(0, SITE_STORE, 0x100));
		assert_true(passes(1, SITE_LOAD, 0x100));
	}
	reported = 0;
	passes_plain = true;
	quick_forget_all();
}

static void test_quick__reports_once_in_an_epoch(void **state)
{
	(void)state;
	begin_quickly();
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(reported_plainly, 1);
	assert_true(passes(0, SITE_LOAD, 0x100)); /* is another access */
	assert_int_equal(reported_plainly, 2);
	assert_true(passes(1, SITE_LOAD, 0x100));
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(reported_plainly, 4);
	memory_renamed(0x100, 8);
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(reported + reported_plainly, 5);
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(reported + reported_plainly, 5);
}

/* Sites learn it in the first run: the access is examined once more. */
static void test_quick__looks_once_at_what_is_not_shared(void **state)
{
	(void)state;
	begin_quickly();
	assert_true(passes(0, SITE_STORE, 0x200));
	names_made = 0;
	for (unsigned i = 0; i < 3; i++) {
		assert_true(passes(0, SITE_STORE, 0x200));
		assert_true(passes(1, SITE_LOAD, 0x300));
	}
	assert_true(quick_is_repeated(
		sites_quick, &sites_now, 0x300, quick_properties(SITE_LOAD, 0, 4)));
	assert_false(quick_is_repeated(
		sites_quick, &sites_now, 0x200, quick_properties(SITE_STORE, 0, 4)));
	assert_int_equal(memory->newly_shared, 0);
	assert_true(passes(1, SITE_STORE, 0x200)); /* now it is */
	assert_int_equal(memory->newly_shared, 1);
	lives = 1; /* another block lies there */
	memory_renamed(0x300, 16);
	assert_false(quick_is_repeated(
		sites_quick, &sites_now, 0x300, quick_properties(SITE_LOAD, 0, 4)));
	assert_true(passes(1, SITE_STORE, 0x200));
	assert_true(passes(1, SITE_STORE, 0x204));
	memory_renamed(0x1000, 1024); /* more than is looked for */
	assert_false(quick_is_repeated(
		sites_quick, &sites_now, 0x200, quick_properties(SITE_STORE, 0, 4)));
	assert_int_equal(reported_plainly, 0);
}

static void test_quick__looks_closer_at_what_is_not_plain(void **state)
{
	(void)state;
	begin_quickly();
	passes_plain = false;
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(reported, 1);
	assert_true(passes(0, SITE_STORE, 0x100)); /* done with all the same */
	assert_int_equal(reported, 1);
	assert_false(passes(0, SITE_ATOMIC_STORE, 0x100));
	memory_raced((void *)0x100);
	run(4);
	quick_begin_run();
	assert_false(passes(0, SITE_STORE, 0x100)); /* a point */
	assert_false(passes(0, SITE_STORE, 0x100));
}

static void test_quick__sites_are_learnt_of_before_they_pass(void **state)
{
	(void)state;
	begin_quickly();
	memory->sites[0] = SITE_ON;
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(reported_plainly, 0);
	assert_true(memory->sites[0] & SITE_SHARED);
	quick_forget_all();
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(reported_plainly, 1);
}

static void test_quick__somebody_who_wants_a_turn_is_heard(void **state)
{
	(void)state;
	begin_quickly();
	assert_true(passes(0, SITE_LOAD, 0x100));
	memory_give_turn();
	assert_false(passes(0, SITE_LOAD, 0x100));
	site_perform();
	assert_int_equal(turns, 1);
	assert_true(passes(0, SITE_LOAD, 0x100));
}

static void test_quick__a_loop_that_waits_is_found(void **state)
{
	unsigned reads = 0;

	(void)state;
	begin_quickly();
	while (passes(0, SITE_LOAD, 0x100))
		if (++reads == 2 * PERIOD_FIRST)
			break;
	assert_in_range(reads, PERIOD_FIRST, PERIOD_FIRST + ACCESSES_WATCHED);
	site_perform();
	assert_int_equal(gave_way, 1);
}

/* Each private access counts, whichever path it takes; accesses to the shared variable 0x100 do not count. */
static void test_quick__notes_the_cost_of_profiling(void **state)
{
	const uint32_t most = PROFILE_COST_ACCESSES << PROFILE_COST_MOST;
	uint32_t accesses = 0;

	(void)state;
	begin_quickly();
	memory->mode = MEMORY_LEARN;
	contract.plan.detectors = 0;
	memory->noted_cost = 0;
	quick_begin_run();
	for (unsigned other = 0; other < PROFILE_COST_ACCESSES; other++, accesses++)
		assert_true(passes(0, SITE_STORE, 0x400 + other % 4 * 8));
	assert_int_equal(memory->noted_cost, 0);
	while (memory->noted_cost <= PROFILE_COST_MOST && accesses < 2 * most) {
		const uint32_t noted = memory->noted_cost;

		assert_true(passes(0, SITE_STORE, 0x400 + accesses++ % 4 * 8));
		if (memory->noted_cost != noted)
			assert_in_range(accesses, PROFILE_COST_ACCESSES << noted,
				(PROFILE_COST_ACCESSES << noted) + memory->noted_cost);
	}
	assert_int_equal(memory->noted_cost, PROFILE_COST_MOST + 1);
	assert_in_range(accesses, most, most + PROFILE_COST_MOST + 1);
}

/* Returns how many reads a thread makes until a waiting loop is found. */
static unsigned reads_until_found(bool is_traced)
{
	unsigned reads = 0;

	contract.plan.is_traced = is_traced;
	run(7);
	memory_begin_run();
	quick_begin_run();
	assert_int_equal(sites_are_live, is_traced ? SITES_LIVE : SITES_QUICK);
	for (unsigned other = 0; other < 4 * PERIOD_FIRST; other++)
		assert_true(passes(0, SITE_STORE, 0x400 + other % 64 * 4));
	while (passes(0, SITE_LOAD, 0x300))
		assert_in_range(++reads, 0, 8 * PERIOD_FIRST);
	site_perform();
	return reads;
}

/* A trace has the same points as the run that used the fast path. */
static void test_quick__a_replay_examines_the_same_accesses(void **state)
{
	unsigned reads;

	(void)state;
	memory->mode = MEMORY_LEARN;
	contract.has_memory_sites = 1;
	reads = reads_until_found(false);
	assert_in_range(reads, PERIOD_FIRST / 8, 8 * PERIOD_FIRST);
	assert_int_equal(reads_until_found(true), reads);
}

/* ---- leases ---- */

/* The fourth run of pct: 0x100 is a point, and so is 0x108; the others are not. */
static void begin_leased(void)
{
	unsigned pct = 0;

	while (strcmp(strategies[pct]->name, "pct") != 0)
		pct++;
	contract.plan.strategy = pct;
	memory->mode = MEMORY_LEARN;
	memory->sites[0] = SITE_SEEN;
	for (uint64_t number = 1; number < 6; number++) {
		run(number);
		quick_begin_run();
		for (unsigned thread = 0; thread < 2; thread++)
			for (uintptr_t at = 0x100; at < 0x110; at += 8)
				if (!passes(thread, SITE_STORE, at))
					site_perform();
	}
	assert_false(memory->was_profile);
	assert_true(sites_now.engine.wants_lease);
	points = 0;
	lease = 3;
	quick.watched = 0;
	quick_forget_all();
}

static void test_lease__points_pass_until_it_is_over(void **state)
{
	(void)state;
	begin_leased();
	assert_false(passes(0, SITE_STORE, 0x100));
	site_perform();
	assert_int_equal(points, 1);
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_true(passes(0, SITE_LOAD, 0x104)); /* an access to the same eight bytes */
	assert_int_equal(sites_now.engine.lease, 1);
	names_made = 0;
	assert_true(
		passes(0, SITE_LOAD, 0x106)); /* goes beyond them: is looked at, and one point */
	assert_int_equal(names_made, 0);      /* all names are known */
	assert_int_equal(sites_now.engine.lease, 0);
	assert_false(passes(0, SITE_LOAD, 0x106));
	site_perform();
	lease = 0;
	sites_now.engine.lease = 1;
	assert_true(passes(0, SITE_STORE, 0x104));
	assert_false(passes(0, SITE_STORE, 0x104));
	site_perform();
	assert_int_equal(points, 3);
}

static bool range_passes(uint8_t kind, uintptr_t address, size_t bytes)
{
	const struct site_record record = {.kind = kind};

	return !site_reached((void *)address, bytes, &record, 0);
}

/* 0x100 and 0x108 are points: a range is one point, however many of them it has. */
static void test_lease__ranges_pass_until_it_is_over(void **state)
{
	(void)state;
	begin_leased();
	assert_false(range_passes(SITE_RANGE_WRITE, 0xf0, 0x30));
	site_perform();
	assert_int_equal(points, 1);
	assert_true(range_passes(SITE_RANGE_READ, 0xf8, 0x18)); /* is examined */
	assert_int_equal(sites_now.engine.lease, 2);
	names_made = 0;
	assert_true(range_passes(SITE_RANGE_READ, 0xf8, 0x18));
	assert_int_equal(names_made, 0);
	assert_int_equal(sites_now.engine.lease, 1);
	assert_true(passes(0, SITE_LOAD, 0x100));
	assert_int_equal(sites_now.engine.lease, 0);
	assert_false(range_passes(SITE_RANGE_READ, 0xf8, 0x18));
	site_perform();
	assert_int_equal(points, 2);
}

static void test_lease__ranges_that_are_no_points_are_looked_at_once(void **state)
{
	(void)state;
	begin_leased();
	assert_true(range_passes(SITE_RANGE_READ, 0x200, 0x40));
	names_made = 0;
	assert_true(range_passes(SITE_RANGE_READ, 0x200, 0x40));
	assert_true(passes(0, SITE_LOAD, 0x220));
	assert_int_equal(names_made, 0);
	assert_true(passes(1, SITE_LOAD, 0x300)); /* another thread: of its own */
	assert_true(range_passes(SITE_RANGE_WRITE, 0x220, 8));
	assert_int_equal(memory->newly_shared, 1);
	assert_int_equal(points, 0);
}

static void test_lease__ranges_that_are_made_anew_are_looked_at(void **state)
{
	(void)state;
	begin_leased();
	assert_false(range_passes(SITE_RANGE_WRITE, 0x100, 16));
	site_perform();
	assert_true(range_passes(SITE_RANGE_WRITE, 0x100, 16));
	assert_int_equal(sites_now.engine.lease, 2);
	lives++;
	memory_renamed(0x100, 16);
	/* the variable is no point any more */
	assert_true(range_passes(SITE_RANGE_WRITE, 0x100, 16));
	assert_int_equal(sites_now.engine.lease, 2);
}

static void test_lease__memory_that_is_made_anew_is_looked_at(void **state)
{
	(void)state;
	begin_leased();
	assert_false(passes(0, SITE_STORE, 0x100));
	site_perform();
	assert_true(passes(0, SITE_STORE, 0x100));
	lives++;
	memory_renamed(0x100, 8);
	assert_true(passes(0, SITE_STORE, 0x100)); /* is no point any more */
	assert_int_equal(sites_now.engine.lease, 2);
}

static void test_lease__memory_that_is_freed_is_looked_at(void **state)
{
	(void)state;
	begin_leased();
	assert_false(passes(0, SITE_STORE, 0x100));
	site_perform();
	assert_true(passes(0, SITE_STORE, 0x100));
	memory_renamed(0x100, 8);
	freed_end = 0x108;
	assert_false(passes(0, SITE_STORE, 0x100));
	site_perform();
	assert_int_equal(points, 2);
	assert_int_equal(failed.kind, OUTCOME_USE_AFTER_FREE);
}

static void test_lease__other_memory_is_looked_at_once_by_each_thread(void **state)
{
	(void)state;
	begin_leased();
	assert_true(passes(0, SITE_LOAD, 0x200));
	names_made = 0;
	assert_true(passes(0, SITE_LOAD, 0x204));
	assert_int_equal(names_made, 0);
	assert_true(passes(0, SITE_STORE, 0x200)); /* another kind */
	assert_true(passes(1, SITE_LOAD, 0x200));
	assert_int_equal(memory->newly_shared, 1);
	assert_int_equal(points, 0);
}

static void test_lease__ends_for_somebody_who_wants_a_turn(void **state)
{
	(void)state;
	begin_leased();
	assert_false(passes(0, SITE_STORE, 0x100));
	site_perform();
	leases_ended = 0;
	memory_give_turn();
	assert_int_equal(leases_ended, 1);
	assert_false(passes(0, SITE_STORE, 0x100));
	site_perform();
	assert_int_equal(turns, 1);
}

static void test_lease__none_where_it_must_not_be(void **state)
{
	(void)state;
	begin_leased();
	memory->knows_waiting = 1;
	run(6);
	quick_begin_run();
	assert_false(sites_now.engine.wants_lease);
	memory->knows_waiting = 0;
	contract.plan.is_traced = true;
	quick_begin_run();
	assert_false(sites_now.engine.wants_lease);
	contract.plan.is_traced = false;
	quick_begin_run();
	assert_true(sites_now.engine.wants_lease);
	memory->profile_cost = PROFILE_COST_MOST + 1;
	run(64); /* a profiling run */
	quick_begin_run();
	assert_false(sites_now.engine.wants_lease);
}

static void test_quick__own_memory_passes_without_leases(void **state)
{
	(void)state;
	begin_leased();
	memory->knows_waiting = 1;
	for (unsigned is_partial = 0; is_partial < 2; is_partial++) {
		memory->is_partial = is_partial;
		quick_begin_run();
		quick.watched = 0;
		assert_false(sites_now.engine.wants_lease);
		assert_true(passes(0, SITE_LOAD, 0x200));
		names_made = 0;
		memory_next_epoch(memory);
		assert_true(passes(0, SITE_LOAD, 0x200));
		assert_int_equal(names_made, 0);
		assert_false(passes(0, SITE_STORE, 0x100));
		site_perform();
		assert_false(passes(0, SITE_STORE, 0x100)); /* a point each time */
		site_perform();
	}
	assert_int_equal(points, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_site_reached__measures_strings_and_ranges),
		TEST(test_quick__reports_once_in_an_epoch),
		TEST(test_quick__looks_once_at_what_is_not_shared),
		TEST(test_quick__looks_closer_at_what_is_not_plain),
		TEST(test_quick__sites_are_learnt_of_before_they_pass),
		TEST(test_quick__somebody_who_wants_a_turn_is_heard),
		TEST(test_quick__a_loop_that_waits_is_found),
		TEST(test_quick__notes_the_cost_of_profiling),
		TEST(test_quick__a_replay_examines_the_same_accesses),
		TEST(test_lease__points_pass_until_it_is_over),
		TEST(test_lease__ranges_pass_until_it_is_over),
		TEST(test_lease__ranges_that_are_no_points_are_looked_at_once),
		TEST(test_lease__ranges_that_are_made_anew_are_looked_at),
		TEST(test_lease__memory_that_is_made_anew_is_looked_at),
		TEST(test_lease__memory_that_is_freed_is_looked_at),
		TEST(test_lease__other_memory_is_looked_at_once_by_each_thread),
		TEST(test_lease__ends_for_somebody_who_wants_a_turn),
		TEST(test_lease__none_where_it_must_not_be),
		TEST(test_quick__own_memory_passes_without_leases),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
