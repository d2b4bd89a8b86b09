/* What is learnt of accesses, and which of them are scheduling points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/contexts.h"
#include "runtime/memory_variable.c"
#include "runtime/memory.c"
#include "runtime/memory_prepare.c"
#include "runtime/quick.c"
#include "runtime/site_visit.c"

/* ---- what is around it: two threads, addresses that are names, sites that are bytes ---- */

static struct contract contract;
static struct contract_memory *memory;
static struct engine_thread threads[2] = {{.name = 1}, {.name = 2, .id = {1}}};
static struct engine_thread *current = threads;
static struct engine_op last_op;
static unsigned points, notes, switches, gave_way, turns;
static uint64_t step;
static uintptr_t unnamed; /* an address without a quick name */
static bool has_lasting_names = true;
static uint64_t lives; /* blocks that have lain there: names differ */
static unsigned names_made;

struct runtime runtime = {.contract = &contract};
uint8_t sites_are_live;
struct contract_quick *sites_quick;
struct quick_now sites_now;

struct contract_memory *sites_memory(void)
{
	return memory;
}

void contexts_note(const struct site_record *record, uintptr_t frame)
{
	(void)record;
	(void)frame;
}

/* Nothing is on the heap. */
bool heap_find_any(const void *address, struct heap_block *out)
{
	(void)address;
	(void)out;
	return false;
}

/* The one live block. */
static struct heap_block live = {.start = 0x800, .bytes = 64};

bool heap_find(const void *address, struct heap_block *out)
{
	*out = live;
	return (uintptr_t)address - live.start < live.bytes;
}

bool sites_switch(bool (*is_on)(uint8_t kind, uint8_t state))
{
	(void)is_on;
	switches++;
	return true;
}

uint8_t *site_state(const struct site_record *record)
{
	(void)record;
	return &memory->sites[0];
}

variable_name memory_variable_name(const void *address)
{
	names_made++;
	return (variable_name)((uintptr_t)address / 8 + 1) + (lives << 32);
}

variable_name memory_lasting_name(const void *address)
{
	return has_lasting_names ? memory_quick_name(address) : 0;
}

variable_name memory_quick_name(const void *address)
{
	return (uintptr_t)address / 8 == unnamed / 8 ? 0 : memory_variable_name(address);
}

/* No run is recorded. */
bool record_is_on(void)
{
	return false;
}

bool record_quickly(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame)
{
	(void)site;
	(void)address;
	(void)length;
	(void)frame;
	return false;
}

void record_settle(void)
{
}

void record_resume(void)
{
}

bool record_turn_is_over(void)
{
	return false;
}

void record_report(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame)
{
	(void)site;
	(void)address;
	(void)length;
	(void)frame;
}

void spinning_note(const struct memory_access *access)
{
	(void)access;
}

size_t guarded_string_bytes(const char *string, size_t most)
{
	size_t length = strlen(string) + 1;

	return length < most ? length : most;
}

bool engine_is_live(void)
{
	return true;
}

bool engine_is_in_control(void)
{
	return true;
}

struct engine_thread *engine_current(void)
{
	return current;
}

uint64_t engine_step(void)
{
	return step;
}

void engine_spin_point(uint64_t site)
{
	(void)site;
	turns++;
}

void engine_give_way(void)
{
	gave_way++;
}

enum engine_result engine_perform(struct engine_op *op)
{
	last_op = *op;
	points++;
	step++;
	return WAIT_DONE;
}

/* What is told past the engine, where that works. */
static bool tells_quickly;
static unsigned told;

bool runtime_detect_quickly(const struct memory_access *access, enum op_kind kind, object_name name)
{
	(void)kind;
	(void)access;
	(void)name;
	told += tells_quickly;
	return tells_quickly;
}

/* The detector of races: what comes by the shortest way, and whether that is enough. */
static bool has_detector, passes_plain;
static unsigned told_plainly;

bool runtime_looks_for_races(void)
{
	return runtime.contract->plan.detectors;
}

void *runtime_detects_quickly(void)
{
	return has_detector ? &has_detector : NULL;
}

bool race_passes_plain(void *race, const struct race_plain *access, uint32_t *place)
{
	(void)race;
	(void)access;
	(void)place;
	told_plainly += passes_plain;
	return passes_plain;
}

void engine_count_episodes(struct engine_episodes *episodes)
{
	(void)episodes;
}

void engine_tell_rest(void)
{
}

uint32_t engine_thread_count(void)
{
	return 2;
}

void engine_note_access(const struct engine_op *op)
{
	(void)op;
	notes++;
}

static int set_up(void **state)
{
	(void)state;
	free(memory);
	memory = calloc(1, sizeof *memory);
	contract = (struct contract){.has_memory_sites = 1};
	runtime.is_forked_child = runtime.is_run_over = false;
	points = notes = switches = gave_way = turns = 0;
	waiting.visits = 0;
	unnamed = 1;
	lives = 0;
	tells_quickly = false;
	told = told_plainly = 0;
	has_detector = passes_plain = false;
	sites_are_live = SITES_QUIET;
	has_lasting_names = true;
	if (!memory)
		return -1;
	memory->site_count = 4;
	return 0;
}

static void access_by(unsigned thread, uint32_t site, uint8_t kind, uintptr_t address, size_t bytes)
{
	const struct memory_access access = {.address = (const void *)address,
		.bytes = bytes,
		.kind = kind,
		.site_state = &memory->sites[site]};

	current = &threads[thread];
	memory_access(&access);
}

static void run(uint64_t number)
{
	points = 0;
	memory_prepare_run(number);
	memory_switch_sites();
}

/* ---- learning ---- */

static void test_memory__a_written_variable_of_two_threads_is_a_point_from_the_next_run(
	void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(1, 1, SITE_LOAD, 0x104, 4); /* the same eight bytes */
	access_by(1, 1, SITE_LOAD, 0x100, 4);
	assert_int_equal(points, 0);
	assert_int_equal(memory->newly_shared, 1);
	run(2);
	assert_int_equal(memory->points_known, 1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(1, 1, SITE_LOAD, 0x104, 4);
	assert_int_equal(points, 2);
	assert_int_equal(last_op.kind, OP_LOAD);
	assert_true(last_op.object == memory_variable_name((void *)0x100));
	assert_int_equal(last_op.bytes, 4);
}

static void test_memory__names_are_made_once_until_memory_is_anothers(void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(0, 0, SITE_STORE, 0x200, 4);
	names_made = 0;
	access_by(1, 1, SITE_LOAD, 0x100, 4);
	assert_int_equal(names_made, 0);
	assert_int_equal(memory->newly_shared, 1);
	lives = 1; /* a block is given out there, by one thread after the other */
	memory_renamed(0x1f8, 0x10);
	access_by(1, 1, SITE_STORE, 0x200, 4);
	assert_int_equal(names_made, 1);
	assert_int_equal(memory->newly_shared, 1);
	memory_renamed(0, SIZE_MAX);
	access_by(1, 1, SITE_STORE, 0x100, 4);
	assert_int_equal(names_made, 2);
	assert_int_equal(memory->newly_shared, 1);
	run(2);
	access_by(1, 1, SITE_STORE, 0x100, 4);
	assert_int_equal(names_made, 3); /* a run may have another block there */
	has_lasting_names = false;	 /* a stack, say */
	access_by(1, 1, SITE_STORE, 0x300, 4);
	names_made = 0;
	access_by(1, 1, SITE_STORE, 0x300, 4);
	assert_int_equal(names_made, 1);
}

static void test_memory__private_and_constant_variables_are_no_points(void **state)
{
	(void)state;
	for (uint64_t number = 1; number < 6; number++) {
		run(number);
		access_by(0, 0, SITE_STORE, 0x100, 8); /* one thread */
		access_by(0, 1, SITE_LOAD, 0x200, 8);  /* nobody writes */
		access_by(1, 1, SITE_LOAD, 0x200, 8);
		assert_int_equal(points, 0);
	}
	assert_int_equal(memory->points_known, 0);
}

static void test_memory__a_range_is_a_point_where_its_first_point_is(void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_STORE, 0x118, 8);
	access_by(1, 1, SITE_RANGE_READ, 0x100, 64);
	run(2);
	access_by(1, 1, SITE_RANGE_READ, 0x100, 64);
	assert_int_equal(points, 1);
	assert_true(last_op.object == memory_variable_name((void *)0x118));
	assert_int_equal(last_op.bytes, 64);
}

static void test_memory__names_that_take_longer_are_found(void **state)
{
	(void)state;
	unnamed = 0x100;
	run(1);
	access_by(0, 0, SITE_STORE, 0x100, 8);
	access_by(1, 1, SITE_LOAD, 0x100, 8);
	run(2);
	access_by(1, 1, SITE_LOAD, 0x100, 8);
	assert_int_equal(points, 1);
	assert_true(last_op.object == memory_variable_name((void *)0x100));
}

static void test_memory__more_new_points_than_are_listed(void **state)
{
	const uint32_t count = MEMORY_NEWLY_SHARED_MAX + 10;

	(void)state;
	run(1);
	for (uint32_t i = 0; i < count; i++) {
		access_by(0, 0, SITE_STORE, 0x1000 + 8 * i, 8);
		access_by(1, 1, SITE_STORE, 0x1000 + 8 * i, 8);
	}
	run(2);
	assert_int_equal(memory->points_known, count);
	access_by(1, 1, SITE_STORE, 0x1000 + 8 * (count - 1), 8);
	assert_int_equal(points, 1);
}

static void test_memory__nothing_happens_outside_of_runs(void **state)
{
	(void)state;
	run(1);
	runtime.is_forked_child = true;
	access_by(0, 0, SITE_STORE, 0x100, 8);
	runtime.is_forked_child = false;
	runtime.is_run_over = true;
	access_by(0, 0, SITE_STORE, 0x100, 8);
	assert_int_equal(memory->variable_count, 0);
	assert_int_equal(memory->sites[0] & SITE_SEEN, 0);
}

/* ---- loops that wait for what is not known to be shared ---- */

static void test_memory__reads_that_come_again_and_again_are_points(void **state)
{
	(void)state;
	run(1);
	for (unsigned i = 0; i < 3 * (WAITING_VISITS + 1); i++) {
		access_by(0, 0, SITE_LOAD, 0x100, 4);
		access_by(0, 1, SITE_LOAD, 0x200, 4);
	}
	assert_in_range(points, 2, 3);
	assert_int_equal(gave_way, points);
}

static void test_memory__reads_with_writes_in_between_are_not(void **state)
{
	(void)state;
	run(1);
	for (unsigned i = 0; i < 3 * WAITING_VISITS; i++) {
		access_by(0, 0, SITE_LOAD, 0x100, 4);
		access_by(0, 1, SITE_STORE, 0x200, 4);
	}
	assert_int_equal(points, 0);
}

static void test_memory__reads_all_over_an_array_are_not(void **state)
{
	(void)state;
	run(1);
	for (unsigned i = 0; i < 3 * WAITING_VISITS; i++)
		access_by(0, 0, SITE_LOAD, 0x1000 + i % 500 * 8, 8);
	assert_int_equal(points, 0);
}

static void test_memory__a_turn_is_given_at_the_next_access(void **state)
{
	(void)state;
	run(1);
	memory_give_turn();
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	assert_int_equal(turns, 1);
	assert_int_equal(points, 0);
}

/* ---- which sites are on ---- */

static bool is_on(uint32_t site)
{
	return memory->sites[site] & SITE_ON;
}

/* Site 0 writes what site 1 reads, site 2 is private, site 3 never runs. */
static void learn_sites(void)
{
	for (uint64_t number = 1; number < 6; number++) {
		run(number);
		access_by(0, 0, SITE_STORE, 0x100, 8);
		access_by(1, 1, SITE_LOAD, 0x100, 8);
		access_by(0, 2, SITE_STORE, 0x200, 8);
	}
	run(6);
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
	assert_int_equal(memory->points_known, 2);
	assert_true(memory->was_profile); /* which sites touch it? */
	access_by(0, 2, SITE_STORE, 0x200, 8);
	assert_int_equal(points, 1);
	run(PROFILE_EVERY + 2);
	assert_true(is_on(2));
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
	memory->has_changed = 1;
	run(7);
	assert_true(is_on(2));
	access_by(0, 2, SITE_STORE, 0x200, 8); /* its variable is neither chosen nor shared */
	access_by(0, 0, SITE_STORE, 0x100, 8); /* its site is not chosen */
	assert_int_equal(points, 0);
	memory_variable(memory, name, true)->flags |= VARIABLE_CHOSEN;
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

/* Only of what is shared, and only where somebody looks for races. */
static void test_memory_freed__is_a_write_to_who_looks_for_races(void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_LOAD, 0x820, 8);
	current = &threads[1];
	live.is_used = true;
	memory_freed((void *)0x800, 1);
	run(2);
	assert_int_equal(memory->points_known, 0);
	contract.plan.detectors = 1;
	memory_freed((void *)0x800, 1);
	assert_int_equal(notes, 0); /* not known yet */
	run(3);
	assert_int_equal(memory->points_known, 1);
	memory_freed((void *)0x820, 1);
	memory_freed((void *)0x100, 1);
	assert_int_equal(notes, 0); /* no blocks */
	live.is_used = false;
	memory_freed((void *)0x800, 1);
	assert_int_equal(notes, 0); /* nobody has accessed it */
	live.is_used = true;
	memory_freed((void *)0x800, 1);
	assert_int_equal(notes, 1);
	assert_int_equal(points, 0);
}

/* Where races are looked for: plain accesses only once their variable has raced. */
static void test_memory__plain_accesses_are_told_until_they_race(void **state)
{
	(void)state;
	memory->mode = MEMORY_RACES;
	contract.plan.detectors = 1;
	run(1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(1, 1, SITE_LOAD, 0x100, 4);
	assert_int_equal(points + notes, 0); /* not known to be shared */
	run(2);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(0, 0, SITE_STORE, 0x104, 16);
	assert_int_equal(notes, 2);
	tells_quickly = true;
	access_by(0, 0, SITE_STORE, 0x100, 4);
	assert_int_equal(told, 1);
	access_by(0, 0, SITE_STORE, 0x104, 16); /* one variable after the other */
	assert_int_equal(told, 4);
	assert_int_equal(notes, 2);
	assert_int_equal(points, 0);
	access_by(1, 1, SITE_ATOMIC_LOAD, 0x100, 4);
	assert_int_equal(points, 1);
	assert_true(memory_take_change());
	memory_raced((void *)0x100);
	memory_raced((void *)0x100);
	assert_int_equal(memory->newly_shared, 1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	assert_int_equal(points, 1); /* from the next run on */
	run(3);
	assert_true(memory_take_change());
	assert_int_equal(memory->points_known, 1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	assert_int_equal(points, 1);
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

/* ---- from the thunk ---- */

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
	assert_false(site_reached((void *)0x100, 0, &copy, 0)); /* no string was given */
	assert_true(site_reached(there, (size_t) "to", &append, 0));
	site_perform();
	assert_ptr_equal(last_op.address, there + 5);
	assert_int_equal(last_op.bytes, 3);
}

/* ---- the short way ---- */

/* An access of four bytes at site 0, as the thunk and site_reached() have it. True: it is done with. */
static bool passes(unsigned thread, uint8_t kind, uintptr_t address)
{
	const struct site_record record = {.kind = kind, .bytes = 4};

	if (current != &threads[thread]) { /* as the engine does */
		sites_quick->episode = sites_now.engine.episode += ENGINE_EPISODE;
		sites_now.engine.turn = 0;
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
	has_detector = tells_quickly = true;
	for (uint64_t number = 1; number < 4; number++) {
		run(number);
		quick_begin_run();
		assert_true(passes(0, SITE_STORE, 0x100));
		assert_true(passes(1, SITE_LOAD, 0x100));
	}
	told = 0;
	passes_plain = true;
	quick_forget_all();
}

static void test_quick__tells_once_in_an_episode(void **state)
{
	(void)state;
	begin_quickly();
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(told_plainly, 1);
	assert_true(passes(0, SITE_LOAD, 0x100)); /* is another access */
	assert_int_equal(told_plainly, 2);
	assert_true(passes(1, SITE_LOAD, 0x100));
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(told_plainly, 4);
	memory_renamed(0x100, 8);
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(told + told_plainly, 5);
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(told + told_plainly, 5);
}

/* Sites learn of it in the first run, so it is looked at once more. */
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
	assert_int_equal(told_plainly, 0);
}

static void test_quick__looks_closer_at_what_is_not_plain(void **state)
{
	(void)state;
	begin_quickly();
	passes_plain = false;
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(told, 1);
	assert_true(passes(0, SITE_STORE, 0x100)); /* done with all the same */
	assert_int_equal(told, 1);
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
	assert_int_equal(told_plainly, 0);
	assert_true(memory->sites[0] & SITE_SHARED);
	quick_forget_all();
	assert_true(passes(0, SITE_STORE, 0x100));
	assert_int_equal(told_plainly, 1);
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
		if (++reads == 2 * ACCESSES_BETWEEN)
			break;
	assert_in_range(reads, ACCESSES_BETWEEN, ACCESSES_BETWEEN + ACCESSES_WATCHED);
	site_perform();
	assert_int_equal(gave_way, 1);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_memory__a_written_variable_of_two_threads_is_a_point_from_the_next_run),
		TEST(test_memory__names_are_made_once_until_memory_is_anothers),
		TEST(test_memory__private_and_constant_variables_are_no_points),
		TEST(test_memory__a_range_is_a_point_where_its_first_point_is),
		TEST(test_memory__names_that_take_longer_are_found),
		TEST(test_memory__more_new_points_than_are_listed),
		TEST(test_memory__nothing_happens_outside_of_runs),
		TEST(test_memory__reads_that_come_again_and_again_are_points),
		TEST(test_memory__reads_with_writes_in_between_are_not),
		TEST(test_memory__reads_all_over_an_array_are_not),
		TEST(test_memory__a_turn_is_given_at_the_next_access),
		TEST(test_memory__only_shared_and_unseen_sites_stay_on),
		TEST(test_memory__profiling_runs_have_all_sites_on),
		TEST(test_memory__sites_are_left_alone_where_nothing_has_changed),
		TEST(test_memory__late_sharing_becomes_points),
		TEST(test_memory__frozen_learns_nothing),
		TEST(test_memory__none_and_all),
		TEST(test_memory__chosen_sites_and_variables),
		TEST(test_memory__detectors_learn_of_atomics_that_are_no_points),
		TEST(test_memory_freed__is_a_write_to_who_looks_for_races),
		TEST(test_memory__plain_accesses_are_told_until_they_race),
		TEST(test_memory__fences_are_points_and_stay_on),
		TEST(test_site_reached__measures_strings_and_ranges),
		TEST(test_quick__tells_once_in_an_episode),
		TEST(test_quick__looks_once_at_what_is_not_shared),
		TEST(test_quick__looks_closer_at_what_is_not_plain),
		TEST(test_quick__sites_are_learnt_of_before_they_pass),
		TEST(test_quick__somebody_who_wants_a_turn_is_heard),
		TEST(test_quick__a_loop_that_waits_is_found),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(memory);
	return failed;
}
