#include "units.h"

static long thrice(long n)
{
	return n * 3;
}

long library_next(long n)
{
	return n * 17 + 3;
}

step library_choice(long n)
{
	return n & 1 ? thrice : library_next;
}
