/*
 * Vector clocks, and the memory they live in: arrays of 32-bit words in powers of two, in one block
 * without pointers. A *clock* maps threads (by index) to counts; threads beyond its length have 0.
 *
 * Operations that need memory return false when there is none left; the clock is then unchanged, and
 * so too small: whoever relies on it must stop reporting, since an order that is not known looks like
 * a race.
 */
#ifndef RADDLE_DETECTORS_CLOCK_POOL_H
#define RADDLE_DETECTORS_CLOCK_POOL_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_LEAST_WORDS 4u
#define CLOCK_SIZES 16u
/* 32 MB, of which a run touches what it uses: 1,000 threads with 1,000 locks need half of it. */
#define CLOCK_POOL_WORDS (UINT32_C(1) << 23)

/*
 * Instead of memcpy and memset: libc's use the widest registers there are, and from then on every site
 * must save those of the target.
 */
static inline void words_copy(uint32_t *to, const uint32_t *from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		to[i] = from[i];
		__asm__("" : "+r"(i)); /* or the compiler makes memcpy of it */
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
	uint32_t used;		    /* words handed out so far; 0 is never handed out */
	uint32_t free[CLOCK_SIZES]; /* first of a chain of freed arrays by size, 0: none */
	_Alignas(16) uint32_t words[CLOCK_POOL_WORDS];
};

/* All zero: no thread has moved. */
struct vector_clock {
	uint32_t at;	 /* in clock_pool.words; 0: it has no memory */
	uint32_t length; /* a power of two, or 0 */
};

/* Forgets everything that was handed out. Constant time. */
void clock_pool_clear(struct clock_pool *pool);
/* `count` words, rounded up to *length, zeroed; 0: there are none left. */
uint32_t clock_pool_take(struct clock_pool *pool, uint32_t count, uint32_t *length);
void clock_pool_give(struct clock_pool *pool, uint32_t at, uint32_t length);

static inline uint32_t vector_clock_get(
	const struct clock_pool *pool, const struct vector_clock *clock, uint32_t thread)
{
	return thread < clock->length ? pool->words[clock->at + thread] : 0;
}

bool vector_clock_set(
	struct clock_pool *pool, struct vector_clock *clock, uint32_t thread, uint32_t count);
/* The least clock that is not before either. */
bool vector_clock_join(
	struct clock_pool *pool, struct vector_clock *clock, const struct vector_clock *other);
bool vector_clock_copy(
	struct clock_pool *pool, struct vector_clock *clock, const struct vector_clock *other);
void vector_clock_clear(struct clock_pool *pool, struct vector_clock *clock);

#endif
