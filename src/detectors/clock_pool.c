#include "detectors/clock_pool.h"

void clock_pool_clear(struct clock_pool *pool)
{
	pool->used = CLOCK_LEAST_WORDS;
	words_clear(pool->free, CLOCK_SIZES);
}

static uint32_t clock_size(uint32_t count)
{
	uint32_t size = 0;

	while (CLOCK_LEAST_WORDS << size < count)
		size++;
	return size;
}

uint32_t clock_pool_take(struct clock_pool *pool, uint32_t count, uint32_t *length)
{
	uint32_t size = clock_size(count);
	uint32_t words = CLOCK_LEAST_WORDS << size;
	uint32_t at = pool->free[size];

	if (at) {
		pool->free[size] = pool->words[at];
	} else {
		if (words > CLOCK_POOL_WORDS - pool->used)
			return 0;
		at = pool->used;
		pool->used += words;
	}
	words_clear(&pool->words[at], words);
	*length = words;
	return at;
}

void clock_pool_give(struct clock_pool *pool, uint32_t at, uint32_t length)
{
	uint32_t size = clock_size(length);

	if (!at)
		return;
	pool->words[at] = pool->free[size];
	pool->free[size] = at;
}

static bool clock_pool_vector_clock_grow(
	struct clock_pool *pool, struct vector_clock *clock, uint32_t length)
{
	struct vector_clock grown;

	if (length <= clock->length)
		return true;
	grown.at = clock_pool_take(pool, length, &grown.length);
	if (!grown.at)
		return false;
	words_copy(&pool->words[grown.at], &pool->words[clock->at], clock->length);
	clock_pool_give(pool, clock->at, clock->length);
	*clock = grown;
	return true;
}

bool vector_clock_set(
	struct clock_pool *pool, struct vector_clock *clock, uint32_t thread, uint32_t count)
{
	if (!clock_pool_vector_clock_grow(pool, clock, thread + 1))
		return false;
	pool->words[clock->at + thread] = count;
	return true;
}

bool vector_clock_join(
	struct clock_pool *pool, struct vector_clock *clock, const struct vector_clock *other)
{
	uint32_t *to;
	const uint32_t *from;

	if (!clock_pool_vector_clock_grow(pool, clock, other->length))
		return false;
	to = &pool->words[clock->at];
	from = &pool->words[other->at];
	for (uint32_t i = 0; i < other->length; i++)
		to[i] = from[i] > to[i] ? from[i] : to[i];
	return true;
}

bool vector_clock_copy(
	struct clock_pool *pool, struct vector_clock *clock, const struct vector_clock *other)
{
	if (!clock_pool_vector_clock_grow(pool, clock, other->length))
		return false;
	words_copy(&pool->words[clock->at], &pool->words[other->at], other->length);
	words_clear(&pool->words[clock->at + other->length], clock->length - other->length);
	return true;
}

void vector_clock_clear(struct clock_pool *pool, struct vector_clock *clock)
{
	clock_pool_give(pool, clock->at, clock->length);
	*clock = (struct vector_clock){0};
}
