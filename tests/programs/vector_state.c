/* EXPECT: passed runs=50 */
/*
 * A thread's registers stay its own while others run: vector registers of every width that the
 * processor has, the stack of the x87 unit, flags. If accesses to memory are scheduling points, a
 * thread may be stopped in the middle of such code, which no call would interrupt.
 */
#include <immintrin.h>
#include <pthread.h>

#include "check.h"

#define ROUNDS 6

static volatile int shared;
static int wrong[2];

/* Sixteen values in registers, which are all needed after the accesses between. */
#define KEEP(type, make, add, first)                                                               \
	type a = make(first), b = make(first + 1), c = make(first + 2), d = make(first + 3),       \
	     e = make(first + 4), f = make(first + 5), g = make(first + 6), h = make(first + 7);   \
	for (int i = 0; i < ROUNDS; i++) {                                                         \
		shared = shared + 1;                                                               \
		a = add(a, b), b = add(b, c), c = add(c, d), d = add(d, e);                        \
		shared = shared + 1;                                                               \
		e = add(e, f), f = add(f, g), g = add(g, h), h = add(h, a);                        \
	}                                                                                          \
	a = add(add(add(a, b), add(c, d)), add(add(e, f), add(g, h)))

/* Lanes that differ: of equal ones the compiler keeps one. */
static double scale[8] = {1, 2, 3, 4, 5, 6, 7, 8};

/* Each lane must be as many times the first; then the first is the answer. */
static double check_lanes(const double *lanes, int count)
{
	for (int i = 1; i < count; i++)
		if (lanes[i] != (i + 1) * lanes[0])
			return -1;
	return lanes[0];
}

static __m128d make_narrow(double value)
{
	return _mm_mul_pd(_mm_set1_pd(value), _mm_loadu_pd(scale));
}

static double narrow(double first)
{
	double lanes[2];
	KEEP(__m128d, make_narrow, _mm_add_pd, first);

	_mm_storeu_pd(lanes, a);
	return check_lanes(lanes, 2);
}

__attribute__((target("avx"))) static __m256d make_wide(double value)
{
	return _mm256_mul_pd(_mm256_set1_pd(value), _mm256_loadu_pd(scale));
}

__attribute__((target("avx"))) static double wide(double first)
{
	double lanes[4];
	KEEP(__m256d, make_wide, _mm256_add_pd, first);

	_mm256_storeu_pd(lanes, a);
	return check_lanes(lanes, 4);
}

__attribute__((target("avx512f"))) static __m512d make_widest(double value)
{
	return _mm512_mul_pd(_mm512_set1_pd(value), _mm512_loadu_pd(scale));
}

__attribute__((target("avx512f"))) static double widest(double first)
{
	double lanes[8];
	KEEP(__m512d, make_widest, _mm512_add_pd, first);

	_mm512_storeu_pd(lanes, a);
	return check_lanes(lanes, 8);
}

static double extended(double first)
{
	long double a = first, b = first + 1, c = first + 2, d = first + 3;

	for (int i = 0; i < ROUNDS; i++) {
		shared = shared + 1;
		a += b, b += c;
		shared = shared + 1;
		c += d, d += a;
	}
	return (double)(a + b + c + d);
}

/* The same by plain arithmetic, alone. */
static double expected(double first, int count)
{
	double v[8];
	double sum = 0;

	for (int i = 0; i < count; i++)
		v[i] = first + i;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < count; i++)
			v[i] += v[(i + 1) % count];
	for (int i = 0; i < count; i++)
		sum += v[i];
	return sum;
}

static void *compute(void *argument)
{
	const int self = argument != NULL;
	const double first = 10 * self + 1;

	wrong[self] += narrow(first) != expected(first, 8);
	wrong[self] += extended(first) != expected(first, 4);
	if (__builtin_cpu_supports("avx"))
		wrong[self] += wide(first) != expected(first, 8);
	if (__builtin_cpu_supports("avx512f"))
		wrong[self] += widest(first) != expected(first, 8);
	return NULL;
}

int main(void)
{
	pthread_t other;

	pthread_create(&other, NULL, compute, wrong);
	compute(NULL);
	pthread_join(other, NULL);
	CHECK(wrong[0] == 0);
	CHECK(wrong[1] == 0);
	return check_status();
}
