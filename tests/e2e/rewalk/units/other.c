#include "units.h"

long other_next(long n)
{
	return n * 3 + 7;
}

struct pair other_pair(long n)
{
	return (struct pair){n * 11, n ^ 5};
}

double other_half(long n)
{
	return (double)n / 2;
}

void other_count(long *at)
{
	++*at;
}

long other_through(step step, long n)
{
	return step(n) + 1;
}

long other_tail(long n)
{
#ifdef __clang__
	__attribute__((musttail)) return plain_next(n);
#else
	return plain_next(n);
#endif
}
