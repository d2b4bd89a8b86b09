/*
 * Vector clocks and their memory. A clock maps thread indices to counts; threads beyond its length
 * have count 0. The memory is one block of 32-bit words without pointers, divided into arrays whose
 * sizes are powers of two.
 *
 * An operation that needs memory returns false when the pool is exhausted, and leaves the clock
 * unchanged. The clock then lacks happens-before edges, which would produce false races. A detector
 * that sees false must therefore stop reporting for the rest of the run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_LEAST_WORDS 4u
#define CLOCK_SIZES 16u
/* 32 MB of address space, touched as used; 1,000 threads with 1,000 locks need half of it. */
#define CLOCK_POOL_WORDS (UINT32_C(1) << 23)

/* A loop instead of libc's memcpy, whose wide vector registers each instrumented access would have
 * to save. */
static inline void words_copy(uint32_t *to, const uint32_t *from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		to[i] = from[i];
		__asm__("" : "+r"(i)); /* keeps the compiler from replacing the loop by memcpy */
	}
}

static inline void words_clear(uint32_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		words[i] = 0;
		__asm__("" : "+r"(i));
	}
}

struct clock_pool {
	uint32_t used;		    /* words allocated so far; index 0 is never allocated */
	uint32_t free[CLOCK_SIZES]; /* first array of the free list by size class, 0: empty */
	_Alignas(16) uint32_t words[CLOCK_POOL_WORDS];
};

/* A vector clock. All zero: every count is 0. */
struct vector_clock {
	uint32_t at;	 /* index in clock_pool.words; 0: no memory allocated */
	uint32_t length; /* length of the array: a power of two, or 0 */
};

/* Frees all arrays in constant time. */
void clock_pool_clear(struct clock_pool *pool);
/* Allocates at least `count` zeroed words. Returns their index in `words`, 0: exhausted; *length:
 * number of words. */
uint32_t clock_pool_take(struct clock_pool *pool, uint32_t count, uint32_t *length);
/* Frees an array of clock_pool_take(); index 0 is ignored. */
void clock_pool_give(struct clock_pool *pool, uint32_t at, uint32_t length);

static inline uint32_t vector_clock_get(
	const struct clock_pool *pool, const struct vector_clock *clock, uint32_t thread)
{
	return thread < clock->length ? pool->words[clock->at + thread] : 0;
}

bool vector_clock_set(
	struct clock_pool *pool, struct vector_clock *clock, uint32_t thread, uint32_t count);
/* Sets `clock` to the least upper bound of both clocks. */
bool vector_clock_join(
	struct clock_pool *pool, struct vector_clock *clock, const struct vector_clock *other);
bool vector_clock_copy(
	struct clock_pool *pool, struct vector_clock *clock, const struct vector_clock *other);
void vector_clock_clear(struct clock_pool *pool, struct vector_clock *clock);
