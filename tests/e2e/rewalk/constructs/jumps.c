/* setjmp and longjmp: once, again and again, out of several frames, and in a thread of its own. */
#include <setjmp.h>

#include "show_bits.h"

SHOW_MAIN

struct place {
	jmp_buf buffer;
	uint64_t sum;
};

static __attribute__((noinline, noreturn)) void leave(struct place *place, int value)
{
	longjmp(place->buffer, value);
}

static __attribute__((noinline)) uint64_t dive(struct place *place, uint64_t depth)
{
	place->sum += depth;
	if (!depth)
		leave(place, (int)(place->sum % 100) + 1);
	return dive(place, depth - 1) + 1;
}

static __attribute__((noinline)) uint64_t repeat(uint64_t times)
{
	struct place place = {.sum = 0};
	volatile uint64_t count = 0;
	const int value = setjmp(place.buffer);

	count = count + 1 + (uint64_t)value;
	if (count < times * 10)
		leave(&place, 3);
	return count;
}

void construct(uint64_t number)
{
	struct place place = {.sum = number};
	const int value = setjmp(place.buffer);

	show_bits((uint64_t)value);
	show_bits(place.sum);
	if (!value)
		show_bits(dive(&place, number));
	show_bits(repeat(number));
}
