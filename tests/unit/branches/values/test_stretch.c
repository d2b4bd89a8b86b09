/* Memory that grows in place, and terms and events in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "branches/interpret/walk_internal.h"

static void test_stretch__stays_where_it_is(void **state)
{
	const uint64_t much = UINT64_C(9) << 20;
	struct stretch stretch = {0};
	uint8_t *memory;

	(void)state;
	stretch_reach(&stretch, 1);
	memory = stretch.memory;
	assert_non_null(memory);
	memory[0] = 7;
	for (uint64_t bytes = 1; bytes < much; bytes += 4093) {
		stretch_reach(&stretch, bytes);
		assert_true(stretch.ready >= bytes);
		memory[bytes - 1] = (uint8_t)bytes;
	}
	assert_ptr_equal(stretch.memory, memory);
	assert_int_equal(memory[4093], (uint8_t)4094);
	stretch_release(&stretch);
	assert_null(stretch.memory);
	stretch_release(&stretch);
}

static void add_events(struct walk *walk, uint16_t thread, uint32_t count)
{
	struct walker walker = {.walk = walk, .out = &walk->threads[thread]};

	for (uint32_t i = 0; i < count; i++) {
		struct walk_event *event = walk_add_event(&walker, EVENT_WRITE);

		event->value = walker.out->count * 4 + thread;
	}
}

static void check_events(const struct walk *walk, uint16_t thread, uint64_t count)
{
	const struct walked_thread *out = &walk->threads[thread];

	assert_int_equal(out->count, count);
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(out->events[i].value, (i + 1) * 4 + thread);
}

/* Those of a thread that is done are followed by those of the next. */
static void test_events__leave_no_room_between_threads(void **state)
{
	struct walked_thread threads[3] = {0};
	struct walk walk = {.threads = threads};

	(void)state;
	for (uint16_t thread = 0; thread < 3; thread++) {
		add_events(&walk, thread, 100);
		walk_trim_events(&walk, &threads[thread]);
	}
	for (uint16_t thread = 0; thread < 3; thread++)
		check_events(&walk, thread, 100);
	assert_int_equal(walk.event_room, 300);
	assert_ptr_equal(threads[1].events, threads[0].events + 100);
	stretch_release(&walk.event_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stretch__stays_where_it_is),
		cmocka_unit_test(test_events__leave_no_room_between_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
