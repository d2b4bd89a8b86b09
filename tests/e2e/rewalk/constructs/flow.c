/* phi, select, switch, and loops with values that change places along an edge. */
#include "show_bits.h"

SHOW_MAIN

static __attribute__((noinline)) uint64_t choose(uint64_t value)
{
	switch (value) {
	case 0:
		return 11;
	case 1:
	case 2:
		return 12 + value;
	case 1000:
		return 13;
	case UINT64_MAX:
		return 14;
	default:
		return value > 50 ? 15 : 16;
	}
}

static __attribute__((noinline)) int fall(int value)
{
	int result = 1;

	switch (value & 7) {
	case 3:
		result *= 3;
		/* fall through */
	case 2:
		result *= 5;
		/* fall through */
	case 1:
		result += 7;
		break;
	case 6:
		return -1;
	}
	return result;
}

static __attribute__((noinline)) uint64_t fibonacci(uint64_t count)
{
	uint64_t a = 0, b = 1, c = 2;

	while (count--) {
		const uint64_t next = a + b;

		a = b;
		b = next;
		c = c ^ a ? c + b : a;
	}
	return a * 31 + c;
}

static __attribute__((noinline)) uint64_t greatest(const int64_t *values, int count)
{
	int64_t best = values[0];
	int at = 0;

	for (int i = 1; i < count; i++) {
		at = values[i] > best ? i : at;
		best = values[i] > best ? values[i] : best;
	}
	return (uint64_t)best * 100 + (uint64_t)at;
}

void construct(uint64_t number)
{
	const int64_t values[] = {3, -9, (int64_t)number * 5, 12, (int64_t)number};

	for (uint64_t i = 0; i < 4; i++)
		show_bits(choose(i));
	show_bits(choose(1000) * choose(UINT64_MAX) * choose(number * 20));
	for (int i = 0; i < 9; i++)
		show_bits((uint64_t)(int64_t)fall(i + (int)number));
	show_bits(fibonacci(number * 3));
	show_bits(greatest(values, 5));
	for (uint64_t i = 0; i < 30; i++) {
		if (i % 7 == number % 7)
			continue;
		if (i > 20 + number)
			break;
		for (uint64_t j = i; j; j /= 2)
			if (j % 5 == 3)
				goto next;
		show_bits(i);
	next:;
	}
}
