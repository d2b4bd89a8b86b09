/* Two threads that call functions of other units, of a library, and of code without bitcode, by name and through pointers. */
#include <pthread.h>
#include <stdio.h>

#include "units.h"

enum { ROUNDS = 400 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long shared;

static long mine(long n)
{
	return n * 5 + 1;
}

static void *work(void *arg)
{
	step steps[] = {mine, other_next, library_next, plain_next, other_tail, library_next};
	long sum = (long)arg;

	for (long i = 0; i < ROUNDS; i++) {
		struct pair pair = other_pair(i + sum % 7);

		sum += other_next(i) + pair.a * pair.b + (long)other_half(i);
		other_count(&sum);
		sum ^= library_next(sum & 1023);
#ifndef KNOWN
		sum += plain_next(i) + other_tail(i) + plain_through(mine, i);
		sum += plain_choice(i)(i) + library_choice(i)(sum & 255);
		sum += steps[i % 6](i);
#endif
		sum += other_through(steps[i % 3], i) + steps[i % 3](sum & 127);
		if (i % 50 == 0) {
			pthread_mutex_lock(&mutex);
			shared += sum;
			pthread_mutex_unlock(&mutex);
		}
	}
	return (void *)sum;
}

int main(void)
{
	pthread_t threads[2];
	void *result;
	long sum = 0;

	for (long i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			return 1;
	for (long i = 0; i < 2; i++) {
		pthread_join(threads[i], &result);
		sum ^= (long)result;
	}
	printf("%ld\n", sum ^ shared);
	return 0;
}
