/* A logarithm without floating point, because the target may have enabled floating-point traps. */
#ifndef RADDLE_STRATEGIES_INTEGER_LOG_H
#define RADDLE_STRATEGIES_INTEGER_LOG_H

#include <stdint.h>

/* The natural logarithm times 2^16, with an error of about 1 %; value >= 1. */
static inline uint64_t log_scaled(uint64_t value)
{
	const uint32_t whole = 63 - (uint32_t)__builtin_clzll(value);
	/* linear interpolation of the binary logarithm */
	const uint64_t part = (value << (63 - whole) << 1) >> 48;

	return (((uint64_t)whole << 16) + part) * 45426 >> 16; /* ln 2 = 45426 / 2^16 */
}

#endif
