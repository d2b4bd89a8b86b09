#include "fuzz/mutate.h"

#include <stdio.h>
#include <string.h>

/* Numbers at the edges of what fields can hold, and words of the formats. */
static const char *const words[] = {"0", "1", "-1", "255", "256", "65535", "65536", "4294967295",
	"4294967296", "18446744073709551615", "18446744073709551616", "main", "main.0",
	"main.65536", "value", "of", "preempts", "steps", "#", "\n", " ", "\\x", "null", "{}", "[]",
	"\"", "\xff", "\\u0000", "true", "1e999"};
#define WORD_COUNT (sizeof words / sizeof *words)

/* Puts `length` bytes in the place of `gone` bytes at `at`. */
static size_t splice(uint8_t *bytes, size_t size, size_t capacity, size_t at, size_t gone,
	const void *with, size_t length)
{
	uint8_t kept[64];

	if (length > sizeof kept || size - gone + length > capacity)
		return size;
	memcpy(kept, with, length); /* `with` may lie inside `bytes` */
	memmove(bytes + at + length, bytes + at + gone, size - at - gone);
	memcpy(bytes + at, kept, length);
	return size - gone + length;
}

static size_t mutate_once(struct rng *rng, uint8_t *bytes, size_t size, size_t capacity)
{
	const size_t at = size ? rng_below64(rng, size) : 0;
	const size_t most = size - at < 64 ? size - at : 64;
	const size_t length = most ? 1 + rng_below(rng, (uint32_t)most) : 0;
	const char *word = words[rng_below(rng, WORD_COUNT)];
	const uint8_t byte = (uint8_t)rng_next(rng);

	switch (rng_below(rng, 8)) {
	case 0:
		if (size)
			bytes[at] ^= (uint8_t)(1u << (byte & 7));
		return size;
	case 1:
		if (size)
			bytes[at] = byte;
		return size;
	case 2: /* a stretch is lost */
		return splice(bytes, size, capacity, at, length, "", 0);
	case 3: /* a stretch stands twice */
		return splice(bytes, size, capacity, at, 0, bytes + at, length);
	case 4:
		return splice(bytes, size, capacity, at, 0, word, strlen(word));
	case 5:
		return splice(bytes, size, capacity, at, length, word, strlen(word));
	case 6: /* a number becomes another one */
		for (size_t i = at; i < size; i++)
			if (bytes[i] >= '0' && bytes[i] <= '9')
				return splice(bytes, size, capacity, i, 1, word, strlen(word));
		return size;
	default: /* cut off */
		return rng_below(rng, 4) ? size : at;
	}
}

size_t mutate(struct rng *rng, uint8_t *bytes, size_t size, size_t capacity)
{
	for (uint32_t times = 1 + rng_below(rng, 4); times; times--)
		size = mutate_once(rng, bytes, size, capacity);
	return size;
}
