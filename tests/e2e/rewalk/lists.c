/* Sums of any number of arguments, the same in each of ARGV[1] rounds of two threads. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static long rounds;

static __attribute__((noinline)) long sum_of(int count, ...)
{
	long sum = 0;
	va_list list, again;

	va_start(list, count);
	va_copy(again, list);
	for (int i = 0; i < count; i++)
		sum += va_arg(list, long);
	va_end(list);
	sum += va_arg(again, long);
	va_end(again);
	return sum;
}

static void *work(void *arg)
{
	long sum = 0;

	for (long i = 0; i < rounds; i++)
		sum ^= sum_of(8, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
	*(long *)arg = sum;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	long sums[2];

	rounds = argc > 1 ? atol(argv[1]) : 10;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &sums[i]) != 0)
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", sums[0] + sums[1]);
	return 0;
}
