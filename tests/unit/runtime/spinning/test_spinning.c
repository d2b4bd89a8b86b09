/* Threads that wait by reading memory in a loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/spinning/spinning.c"

static struct engine_thread self;
static unsigned gave_way;
static struct contract_memory known;

struct contract_memory *sites_memory(void)
{
	return &known;
}

struct engine_thread *engine_current(void)
{
	return &self;
}

void engine_delay_repeating(void)
{
	gave_way++;
}

bool guarded_read(const void *address, size_t bytes, uint64_t *value)
{
	*value = 0;
	if (!address || bytes > sizeof *value)
		return false;
	memcpy(value, address, bytes);
	return true;
}

static int set_up(void **state)
{
	(void)state;
	memset(spinning, 0, sizeof spinning);
	self.id.index = 0;
	gave_way = 0;
	known.is_partial = known.has_waited = 0;
	return 0;
}

static void note(uint8_t kind, uint64_t site, const int *address)
{
	const struct memory_access access = {
		.address = address, .bytes = sizeof *address, .kind = kind, .site = site};

	spinning_note(&access);
}

/* Writes of its own may be at sites that are off. */
static void test_spinning__partial_runs_believe_only_known_allocation_sites(void **state)
{
	uint8_t state_of_site = 0;
	int flag = 0;
	const struct memory_access access = {.address = &flag,
		.bytes = sizeof flag,
		.kind = SITE_LOAD,
		.site = 1,
		.site_state = &state_of_site};

	(void)state;
	known.is_partial = 1;
	for (unsigned i = 0; i < 3 * REPEATS; i++)
		spinning_note(&access);
	assert_int_equal(gave_way, 0);
	assert_int_equal(known.has_waited, 0);
	state_of_site = SITE_WAITED;
	spinning_note(&access);
	assert_int_equal(gave_way, 1);
}

static void test_spinning__repeated_reads_yield(void **state)
{
	int flag = 0;

	(void)state;
	for (unsigned i = 0; i < REPEATS; i++)
		note(SITE_LOAD, 1, &flag);
	assert_int_equal(gave_way, 0);
	for (unsigned i = 0; i < 3; i++)
		note(SITE_LOAD, 1, &flag);
	assert_int_equal(gave_way, 3);
}

static void test_spinning__loops_on_several_variables_yield(void **state)
{
	int flags[3] = {0};

	(void)state;
	for (unsigned i = 0; i < 3 * (REPEATS + 2); i++)
		note(SITE_ATOMIC_LOAD, i % 3, &flags[i % 3]);
	assert_true(gave_way > 0);
}

static void test_spinning__failed_updates_yield(void **state)
{
	int lock = 1;

	(void)state;
	for (unsigned i = 0; i < REPEATS + 1; i++)
		note(SITE_COMPARE_EXCHANGE, 1, &lock);
	assert_int_equal(gave_way, 1);
}

static void test_spinning__reads_that_find_something_new_do_not(void **state)
{
	int counter = 0;

	(void)state;
	for (; counter < 100; counter++)
		note(SITE_LOAD, 1, &counter);
	assert_int_equal(gave_way, 0);
}

static void test_spinning__reads_elsewhere_do_not(void **state)
{
	const int table[100] = {0};

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		note(SITE_LOAD, 1, &table[i]);
	assert_int_equal(gave_way, 0);
}

static void test_spinning__a_write_begins_anew(void **state)
{
	int flag = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		note(SITE_LOAD, 1, &flag);
		if (i % REPEATS == 0)
			note(SITE_STORE, 2, &flag);
	}
	assert_int_equal(gave_way, 0);
}

static void test_spinning__threads_are_apart(void **state)
{
	int flag = 0;

	(void)state;
	for (unsigned i = 0; i < 2 * REPEATS; i++) {
		self.id.index = (uint16_t)(i % 2);
		note(SITE_LOAD, 1, &flag);
	}
	assert_int_equal(gave_way, 0);
}

static void test_spinning__what_cannot_be_read_begins_anew(void **state)
{
	int flag = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		note(SITE_LOAD, 1, &flag);
		if (i % REPEATS == 0)
			note(SITE_LOAD, 2, NULL);
	}
	assert_int_equal(gave_way, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_spinning__repeated_reads_yield),
		TEST(test_spinning__partial_runs_believe_only_known_allocation_sites),
		TEST(test_spinning__loops_on_several_variables_yield),
		TEST(test_spinning__failed_updates_yield),
		TEST(test_spinning__reads_that_find_something_new_do_not),
		TEST(test_spinning__reads_elsewhere_do_not),
		TEST(test_spinning__a_write_begins_anew),
		TEST(test_spinning__threads_are_apart),
		TEST(test_spinning__what_cannot_be_read_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
