/* Each atomic function does exactly what the compiler's own does, and returns the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/rng.h"
#include "compiler/tsan/hook.h"

#define ROUNDS 2000

/* The runtime's functions: no raddle here. */
void tsan_reached(
	const volatile void *address, size_t bytes, uint8_t kind, uint8_t order, uint64_t site)
{
}

void tsan_reached_exchange(const volatile void *address, size_t bytes, uint8_t order,
	uint8_t order_of_failure, uint64_t expected, uint64_t site)
{
}

#define DECLARE(width, type)                                                                       \
	type __tsan_atomic##width##_load(const volatile type *, int);                              \
	void __tsan_atomic##width##_store(volatile type *, type, int);                             \
	type __tsan_atomic##width##_exchange(volatile type *, type, int);                          \
	type __tsan_atomic##width##_fetch_add(volatile type *, type, int);                         \
	type __tsan_atomic##width##_fetch_sub(volatile type *, type, int);                         \
	type __tsan_atomic##width##_fetch_and(volatile type *, type, int);                         \
	type __tsan_atomic##width##_fetch_or(volatile type *, type, int);                          \
	type __tsan_atomic##width##_fetch_xor(volatile type *, type, int);                         \
	type __tsan_atomic##width##_fetch_nand(volatile type *, type, int);                        \
	int __tsan_atomic##width##_compare_exchange_strong(                                        \
		volatile type *, type *, type, int, int);                                          \
	int __tsan_atomic##width##_compare_exchange_weak(volatile type *, type *, type, int, int); \
	type __tsan_atomic##width##_compare_exchange_val(volatile type *, type, type, int, int)

typedef unsigned __int128 uint128_t;

DECLARE(8, uint8_t);
DECLARE(16, uint16_t);
DECLARE(32, uint32_t);
DECLARE(64, uint64_t);
DECLARE(128, uint128_t);

static uint128_t draw(struct rng *rng)
{
	return (uint128_t)rng_next(rng) << 64 | rng_next(rng);
}

#define FETCH(width, type, name, expression)                                                       \
	do {                                                                                       \
		const type old = place;                                                            \
		const type value = (type)draw(&rng);                                               \
		assert_true(__tsan_atomic##width##_##name(&place, value, 5) == old);               \
		assert_true(place == (type)(expression));                                          \
	} while (0)

#define TEST(width, type)                                                                          \
	static void tsan_atomic__does_as_the_compiler_##width(void **state)                        \
	{                                                                                          \
		_Alignas(16) volatile type place = 0;                                              \
		struct rng rng;                                                                    \
                                                                                                   \
		(void)state;                                                                       \
		rng_seed(&rng, width);                                                             \
		for (int i = 0; i < ROUNDS; i++) {                                                 \
			const type wanted = (type)draw(&rng);                                      \
			type expected = i % 2 ? place : (type)draw(&rng);                          \
			const type given = expected;                                               \
			type before = place;                                                       \
			int done;                                                                  \
                                                                                                   \
			FETCH(width, type, exchange, value);                                       \
			FETCH(width, type, fetch_add, old + value);                                \
			FETCH(width, type, fetch_sub, old - value);                                \
			FETCH(width, type, fetch_and, old &value);                                 \
			FETCH(width, type, fetch_or, old | value);                                 \
			FETCH(width, type, fetch_xor, old ^ value);                                \
			FETCH(width, type, fetch_nand, ~(old & value));                            \
			__tsan_atomic##width##_store(&place, before, 5);                           \
			assert_true(__tsan_atomic##width##_load(&place, 5) == before);             \
			done = i % 4 < 2 ? __tsan_atomic##width##_compare_exchange_strong(         \
						   &place, &expected, wanted, 5, 5)                \
					 : __tsan_atomic##width##_compare_exchange_weak(           \
						   &place, &expected, wanted, 5, 5);               \
			assert_int_equal(done, given == before);                                   \
			assert_true(place == (done ? wanted : before));                            \
			assert_true(expected == before);                                           \
			before = place;                                                            \
			assert_true(__tsan_atomic##width##_compare_exchange_val(                   \
					    &place, before, given, 5, 5) == before);               \
			assert_true(place == given);                                               \
		}                                                                                  \
	}

TEST(8, uint8_t)
TEST(16, uint16_t)
TEST(32, uint32_t)
TEST(64, uint64_t)
TEST(128, uint128_t)

/* The expected value is not written when it was found, because the variable may belong to another
 * thread then. */
static void tsan_atomic__leaves_what_was_expected_alone(void **state)
{
	uint32_t *expected = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile uint32_t place = 0;

	(void)state;
	assert_ptr_not_equal(expected, MAP_FAILED);
	assert_int_equal(__tsan_atomic32_compare_exchange_strong(&place, expected, 7, 5, 5), 1);
	assert_int_equal(place, 7);
	place = 0;
	assert_int_equal(__tsan_atomic32_compare_exchange_weak(&place, expected, 8, 5, 5), 1);
	assert_int_equal(place, 8);
	assert_int_equal(munmap(expected, 4096), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tsan_atomic__leaves_what_was_expected_alone),
		cmocka_unit_test(tsan_atomic__does_as_the_compiler_8),
		cmocka_unit_test(tsan_atomic__does_as_the_compiler_16),
		cmocka_unit_test(tsan_atomic__does_as_the_compiler_32),
		cmocka_unit_test(tsan_atomic__does_as_the_compiler_64),
		cmocka_unit_test(tsan_atomic__does_as_the_compiler_128),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
