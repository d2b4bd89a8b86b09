/* Searching a bitset by rank, against a plain list of its members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bitset.h"
#include "base/rng.h"

#define WORDS 5
#define SETS 2000

/* Fills the set, from sparse to full, with empty words between. */
static uint32_t fill(struct rng *rng, uint64_t *words, uint32_t *members)
{
	const uint32_t density = 1 + rng_below(rng, 16);
	uint32_t count = 0;

	for (uint32_t word = 0; word < WORDS; word++) {
		const bool is_empty = rng_below(rng, 4) == 0;

		words[word] = 0;
		for (uint32_t bit = 0; bit < 64; bit++) {
			if (is_empty || rng_below(rng, 16) >= density)
				continue;
			words[word] |= UINT64_C(1) << bit;
			members[count++] = word * 64 + bit;
		}
	}
	return count;
}

static void test_bitset_select__finds_the_member_of_every_rank(void **state)
{
	uint64_t words[WORDS];
	uint32_t members[WORDS * 64];
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	for (int i = 0; i < SETS; i++) {
		const uint32_t count = fill(&rng, words, members);

		for (uint32_t rank = 0; rank < count; rank++)
			assert_int_equal(bitset_select(words, rank), members[rank]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bitset_select__finds_the_member_of_every_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
