/* Functions with any number of arguments: of the program, and of the library. */
#include <stdarg.h>
#include <stdio.h>

#include "tell.h"

TELL_MAIN

static __attribute__((noinline)) uint64_t add(int count, ...)
{
	uint64_t result = 0;
	va_list list, again;

	va_start(list, count);
	va_copy(again, list);
	for (int i = 0; i < count; i++)
		result = result * 7 + va_arg(list, uint64_t);
	result += (uint64_t)va_arg(list, double);
	for (int i = 0; i < count; i++)
		result ^= va_arg(again, uint64_t);
	va_end(again);
	va_end(list);
	return result;
}

static __attribute__((noinline)) int print(char *to, size_t room, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(to, room, format, list);
	va_end(list);
	return length;
}

void construct(uint64_t number)
{
	char text[40];

	tell(add(0, 2.5));
	tell(add(3, number, number * 2, UINT64_C(9), 1e6));
	tell(add(9, UINT64_C(1), UINT64_C(2), UINT64_C(3), UINT64_C(4), UINT64_C(5), UINT64_C(6),
		number, UINT64_C(8), UINT64_C(9), 10.0));
	tell((uint64_t)print(text, sizeof text, "%d %s %lu", -5, "and", (unsigned long)number));
	for (int i = 0; text[i]; i++)
		tell((uint64_t)text[i]);
}
