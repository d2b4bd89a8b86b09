/*
 * Turns end at reports of all kinds: also where code without bitcode has just run, behind a write that was not read yet.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define ROUNDS 500000 /* a turn is 200,000 reports, of which each round has a few */

static __attribute__((noinline)) void keep(long *volatile *where, long *value)
{
	*where = value;
}

static void *count(void *result)
{
	long *volatile known;
	long last = 0, sum = 0;

	keep(&known, &last);
	for (long i = 0; i < ROUNDS; i++) {
		last = i;
		sum += (long)geteuid();
		if (*known != i) /* the walk would go where the run has not been */
			break;
		if (i % 7 == 0) /* otherwise all time slices would end at the same place */
			sum += *known;
	}
	*(long *)result = sum;
	return NULL;
}

int main(void)
{
	long first, second;
	pthread_t other;

	pthread_create(&other, NULL, count, &first);
	count(&second);
	pthread_join(other, NULL);
	printf("%ld\n", first - second);
	return 0;
}
