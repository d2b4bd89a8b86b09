#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "bitcode/flow/bitmap.h"

#define MEMBERS 1000

/* The same as an array of flags. */
struct plain {
	bool has[MEMBERS];
};

static void assert_same(const struct bitmap *set, const struct plain *plain)
{
	uint64_t next = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < MEMBERS; i++) {
		assert_int_equal(bitmap_has(set, i), plain->has[i]);
		count += plain->has[i];
	}
	bitmap_each(member, set)
	{
		assert_true(plain->has[member]);
		count--;
	}
	assert_int_equal(count, 0);
	for (uint32_t i = 0; i < MEMBERS; i++) {
		if (!plain->has[i])
			continue;
		assert_true(bitmap_next(set, &next));
		assert_int_equal(next, i);
		next++;
	}
	assert_false(bitmap_next(set, &next));
}

static void fill(struct bitmap *set, struct plain *plain, struct rng *rng)
{
	const uint32_t count = rng_below(rng, 40);
	const uint32_t range = 1 + rng_below(rng, MEMBERS - 1);

	*set = (struct bitmap){0};
	memset(plain, 0, sizeof *plain);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t member = rng_below(rng, range);

		assert_int_equal(bitmap_add(set, member), !plain->has[member]);
		plain->has[member] = true;
	}
}

static void test_bitmap__is_a_set(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	for (int round = 0; round < 300; round++) {
		struct bitmap a, b, difference = {0};
		struct plain plain_a, plain_b, plain = {0};
		bool grows = false;

		fill(&a, &plain_a, &rng);
		fill(&b, &plain_b, &rng);
		assert_same(&a, &plain_a);
		bitmap_subtract(&difference, &a, &b);
		for (uint32_t i = 0; i < MEMBERS; i++) {
			plain.has[i] = plain_a.has[i] && !plain_b.has[i];
			grows |= plain_b.has[i] && !plain_a.has[i];
			plain_a.has[i] |= plain_b.has[i];
		}
		assert_same(&difference, &plain);
		assert_int_equal(bitmap_unite(&a, &b), grows);
		assert_same(&a, &plain_a);
		assert_false(bitmap_unite(&a, &b));
		bitmap_release(&a);
		bitmap_release(&b);
		bitmap_release(&difference);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bitmap__is_a_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
