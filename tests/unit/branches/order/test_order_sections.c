/* The index of critical sections leads to exactly those that looking at all of them finds. */
#include "branches/order/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include <cmocka.h>

#include "base/rng.h"

#define THREADS 4
#define SECTIONS 400

/* Makes sections in the order of the run. Some sections lie in others, some never end, and one
 * thread has no section. */
static void make(struct order_section *sections, struct rng *rng)
{
	uint32_t at[THREADS] = {0};

	for (uint32_t i = 0; i < SECTIONS; i++) {
		const uint16_t thread = (uint16_t)rng_below(rng, THREADS - 1);

		at[thread] += 1 + rng_below(rng, 5);
		sections[i] = (struct order_section){.lock = i,
			.thread = thread,
			.begin = at[thread],
			.end = rng_below(rng, 50) ? at[thread] + 1 + rng_below(rng, 40)
						  : UINT32_MAX};
	}
}

/* How many of the thread's sections a window has a part of, and the sum of their locks. */
static uint64_t by_index(const struct order_sections *index, const struct order_section *sections,
	uint32_t thread, uint32_t begin, uint32_t end)
{
	uint64_t sum = 0;

	for (uint32_t i = order_sections_from(index, thread, begin); i < index->first[thread + 1];
		i++) {
		const struct order_section *section = &sections[index->items[i]];

		if (section->begin >= end)
			break;
		if (section->end >= begin)
			sum += 1000000 + section->lock;
	}
	return sum;
}

static uint64_t by_all(
	const struct order_section *sections, uint32_t thread, uint32_t begin, uint32_t end)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SECTIONS; i++)
		if (sections[i].thread == thread && sections[i].begin < end &&
			sections[i].end >= begin)
			sum += 1000000 + sections[i].lock;
	return sum;
}

static void test_order_sections__finds_those_of_a_window(void **state)
{
	static struct order_section sections[SECTIONS];
	struct order_sections index = {0};
	struct rng rng;
	bool is_skipping = false;

	(void)state;
	rng_seed(&rng, 7);
	make(sections, &rng);
	for (uint32_t i = 0; i < SECTIONS;
		i++) /* a section without an end would hide the sections behind it */
		if (sections[i].end == UINT32_MAX && sections[i].begin < 200)
			sections[i].end = sections[i].begin + 1;
	order_sections_build(&index, sections, SECTIONS, THREADS);
	for (uint32_t thread = 0; thread < THREADS; thread++)
		for (uint32_t begin = 0; begin < 500; begin += 3) {
			assert_int_equal(by_index(&index, sections, thread, begin, begin + 20),
				by_all(sections, thread, begin, begin + 20));
			is_skipping |= order_sections_from(&index, thread, begin) >
				       index.first[thread] + 5;
		}
	assert_true(is_skipping);
	order_sections_release(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_sections__finds_those_of_a_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
