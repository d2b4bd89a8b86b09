#include "units.h"

static long twice(long n)
{
	return n * 2;
}

long plain_next(long n)
{
	return n * 13 + 5;
}

long plain_through(step step, long n)
{
	return step(n) ^ 3;
}

step plain_choice(long n)
{
	return n & 1 ? twice : plain_next;
}
