/* When the members of a process family wait, when their clock jumps, and when they are deadlocked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/libc/process/family.c"

#define FIRST_CHILD_PID 100
#define MEMBERS_MOST 4

struct runtime runtime;

/* A process of the family. All of them are played by this one. */
static struct process {
	__typeof__(self) self;
	uint64_t clock_ns, idle_period;
} processes[MEMBERS_MOST];

static uint32_t current, process_count;
static struct family shared_family;
static uint32_t gone_pid; /* id of a process that has ended; 0: none */
static struct contract contract;

void *platform_map(size_t bytes, bool is_shared)
{
	assert_true(is_shared);
	assert_int_equal(bytes, sizeof shared_family);
	return &shared_family;
}

void shared_enter(bool is_shared)
{
	(void)is_shared;
}

void shared_leave(bool is_shared)
{
	(void)is_shared;
}

bool shared_process_is_gone(int32_t process)
{
	return gone_pid && (uint32_t)process == gone_pid;
}

uint64_t engine_clock_ns(void)
{
	return processes[current].clock_ns;
}

void engine_clock_advance_to(uint64_t clock_ns)
{
	processes[current].clock_ns = clock_ns;
}

uint64_t engine_idle_period(void)
{
	return processes[current].idle_period;
}

bool time_is_virtual(void)
{
	return true;
}

static void become(uint32_t number)
{
	processes[current].self = self;
	current = number;
	self = processes[number].self;
	runtime.is_forked_child = number > 0;
}

/* The current process forks. Returns the number of the child; the parent stays the current process. */
static uint32_t fork_child(void)
{
	const uint32_t parent = current, child = process_count++;

	assert_true(child < MEMBERS_MOST);
	family_prepare_fork();
	processes[child] = (struct process){.self = self, .clock_ns = engine_clock_ns()};
	become(child);
	family_forked(0);
	become(parent);
	family_forked(FIRST_CHILD_PID + child);
	return child;
}

static int set_up(void **state)
{
	(void)state;
	current = 0;
	process_count = 1;
	gone_pid = 0;
	shared_family = (struct family){0};
	self = (__typeof__(self)){.own = FAMILY_NONE, .reserved = FAMILY_NONE};
	processes[0] = (struct process){0};
	runtime.contract = &contract;
	runtime.is_forked_child = false;
	return 0;
}

static enum family_verdict wait_with(uint32_t number, struct family_wait wait)
{
	become(number);
	wait.epoch = family_look();
	return family_wait(&wait);
}

static enum family_verdict wait_until(uint32_t number, uint64_t deadline_ns)
{
	return wait_with(number, (struct family_wait){.deadline_ns = deadline_ns});
}

static void test_family__a_process_without_children_is_alone(void **state)
{
	(void)state;
	assert_int_equal(wait_until(0, 5), FAMILY_ALONE);
	assert_false(family_has_others());
}

static void test_family__nobody_jumps_while_a_member_runs(void **state)
{
	const uint32_t child = fork_child();

	(void)state;
	assert_true(family_has_others());
	assert_int_equal(wait_until(0, 5), FAMILY_WAITS);
	assert_int_equal(wait_until(child, ENGINE_FOREVER), FAMILY_WAITS);
	become(child);
	(void)family_look();
	assert_int_equal(wait_until(0, 5), FAMILY_WAITS);
}

static void test_family__time_jumps_to_the_earliest_deadline(void **state)
{
	const uint32_t child = fork_child();

	(void)state;
	assert_int_equal(wait_until(0, 9), FAMILY_WAITS);
	assert_int_equal(wait_until(child, 5), FAMILY_TIME);
	engine_clock_advance_to(5);
	assert_int_equal(wait_until(0, 9), FAMILY_WAITS);
	assert_int_equal(engine_clock_ns(), 5);
}

/* The child has not examined the parent's effects meanwhile. */
static void test_family__a_member_of_an_earlier_epoch_looks_again(void **state)
{
	const uint32_t child = fork_child();

	(void)state;
	assert_int_equal(wait_until(child, 9), FAMILY_WAITS);
	become(0);
	processes[0].idle_period++;
	assert_int_equal(wait_until(0, 5), FAMILY_WAITS);
	assert_int_equal(wait_until(child, 9), FAMILY_WAITS);
	assert_int_equal(wait_until(0, 5), FAMILY_TIME);
}

/* The process of the run reports last, because it reports what its children found. */
static void test_family__without_deadlines_children_are_deadlocked_first(void **state)
{
	const uint32_t child = fork_child();

	(void)state;
	assert_int_equal(wait_until(child, ENGINE_FOREVER), FAMILY_WAITS);
	assert_int_equal(wait_until(0, ENGINE_FOREVER), FAMILY_WAITS);
	assert_int_equal(wait_until(child, ENGINE_FOREVER), FAMILY_DEADLOCKED);
	family_stop();
	assert_int_equal(wait_until(0, ENGINE_FOREVER), FAMILY_DEADLOCKED);
}

static void test_family__real_time_passes_for_outside_processes_and_signals(void **state)
{
	const uint32_t child = fork_child();

	(void)state;
	assert_int_equal(
		wait_with(child, (struct family_wait){.deadline_ns = 9, .is_outside = true}),
		FAMILY_WAITS);
	assert_int_equal(wait_until(0, 5), FAMILY_OUTSIDE);
	assert_int_equal(wait_with(child, (struct family_wait){.deadline_ns = ENGINE_FOREVER,
						  .is_signal = true}),
		FAMILY_WAITS);
	assert_int_equal(wait_until(0, ENGINE_FOREVER), FAMILY_OUTSIDE);
	assert_int_equal(wait_until(0, 5), FAMILY_TIME);
}

static void test_family__a_member_that_ends_leaves_the_others(void **state)
{
	const uint32_t child = fork_child();

	(void)state;
	assert_true(family_has_member(FIRST_CHILD_PID + (int)child));
	become(child);
	family_end();
	gone_pid = FIRST_CHILD_PID + child;
	assert_int_equal(wait_until(0, 5), FAMILY_ALONE);
	assert_false(family_has_stranger());
	assert_false(family_has_member(FIRST_CHILD_PID + (int)child));
	assert_true(family_had_member(FIRST_CHILD_PID + (int)child));
	assert_false(family_had_member(0));
}

/* It was killed, or is another program now and lives on. */
static void test_family__a_member_that_vanishes_counts_as_a_stranger(void **state)
{
	const uint32_t child = fork_child();

	(void)state;
	gone_pid = FIRST_CHILD_PID + child;
	assert_int_equal(wait_until(0, 5), FAMILY_ALONE);
	assert_true(family_has_stranger());
}

static void test_family__a_failed_fork_leaves_no_member(void **state)
{
	(void)state;
	family_prepare_fork();
	family_forked(-1);
	assert_false(family_has_others());
}

static void test_family__a_full_table_makes_strangers(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < FAMILY_MOST; i++) {
		family_prepare_fork();
		family_forked(FIRST_CHILD_PID + (long)i);
	}
	assert_false(family_has_stranger());
	family_prepare_fork();
	family_forked(FIRST_CHILD_PID + FAMILY_MOST);
	assert_true(family_has_stranger());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_family__a_process_without_children_is_alone, set_up),
		cmocka_unit_test_setup(test_family__nobody_jumps_while_a_member_runs, set_up),
		cmocka_unit_test_setup(test_family__time_jumps_to_the_earliest_deadline, set_up),
		cmocka_unit_test_setup(
			test_family__a_member_of_an_earlier_epoch_looks_again, set_up),
		cmocka_unit_test_setup(
			test_family__without_deadlines_children_are_deadlocked_first, set_up),
		cmocka_unit_test_setup(
			test_family__real_time_passes_for_outside_processes_and_signals, set_up),
		cmocka_unit_test_setup(test_family__a_member_that_ends_leaves_the_others, set_up),
		cmocka_unit_test_setup(
			test_family__a_member_that_vanishes_counts_as_a_stranger, set_up),
		cmocka_unit_test_setup(test_family__a_failed_fork_leaves_no_member, set_up),
		cmocka_unit_test_setup(test_family__a_full_table_makes_strangers, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
