/* Computed gotos: by tables, by differences of labels, and by labels that lay in memory that others could write. */
#include "show_bits.h"

SHOW_MAIN

static const uint8_t program[] = {0, 1, 2, 0, 2, 1, 1, 0, 3};

static __attribute__((noinline)) uint64_t interpret(uint64_t number)
{
	__extension__ static const void *const ways[] = {&&add, &&twice, &&less, &&end};
	const uint8_t *at = program;
	uint64_t value = number;

	goto *ways[*at];
add:
	value += 3;
	goto *ways[*++at];
twice:
	value *= 2;
	goto *ways[*++at];
less:
	if (value & 1)
		value--;
	goto *ways[*++at];
end:
	return value;
}

static __attribute__((noinline)) uint64_t by_difference(uint64_t number)
{
	__extension__ static const int ways[] = {
		(int)(&&first - &&first), (int)(&&second - &&first), (int)(&&third - &&first)};
	uint64_t value = 0;

	__extension__({ goto *(&&first + ways[number % 3]); });
first:
	value += 1;
second:
	value += 10;
third:
	value += 100;
	return value;
}

static const void *volatile kept[2];

static __attribute__((noinline)) uint64_t from_memory(uint64_t number)
{
	uint64_t rounds = 0;

	kept[number & 1] = number > 5 ? __extension__ && more : __extension__ && done;
more:
	if (++rounds > number)
		kept[number & 1] = __extension__ && done;
	__extension__({ goto *(void *)(uintptr_t)kept[number & 1]; });
done:
	return rounds;
}

void construct(uint64_t number)
{
	for (uint64_t i = 0; i < 5; i++) {
		show_bits(interpret(number + i));
		show_bits(by_difference(number + i));
		show_bits(from_memory(number));
	}
}
