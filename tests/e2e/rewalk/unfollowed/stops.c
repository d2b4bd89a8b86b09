/* Threads that do what walks cannot follow: assembly that jumps in one, numbers of 128 bits with a point in two. */
#include <pthread.h>

static _Atomic int count;
static __float128 totals[2];
static int taken[2];

static void *add(void *own)
{
	count++;
	totals[(long)own] = totals[(long)own] * 2 + count;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, (void *)i);
	__asm__ goto("testl %0, %0\n\tjz %l1" : : "r"(taken[0]) : "cc" : second);
	taken[0]++;
second:
	taken[1]++;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return taken[1] > 5;
}
