/* Threads that do what walks cannot follow: computed goto in one, long double in two. */
#include <pthread.h>

static _Atomic int count;
static long double totals[2];
static int taken[2];

static void *add(void *own)
{
	count++;
	totals[(long)own] = totals[(long)own] * 1.5L + count;
	return NULL;
}

int main(void)
{
	__extension__ static void *const ways[] = {&&first, &&second};
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, (void *)i);
	goto *ways[count > 5];
first:
	taken[0]++;
second:
	taken[1]++;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return taken[1] > 5;
}
