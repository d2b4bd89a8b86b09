/* EXPECT: passed runs=500 needs=memory */
/* The twin of own_atomics: one instruction counts a thread at its exit. */
#include <assert.h>
#include <pthread.h>

static int arrived, left;

static int load(const int *at)
{
	int value;

	__asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*at) : "memory");
	return value;
}

static void increment(int *at)
{
	__asm__ volatile("lock; incl %0" : "+m"(*at) : : "memory", "cc");
}

static void *meet(void *unused)
{
	increment(&arrived);
	while (load(&arrived) < 2)
		__asm__ volatile("pause" : : : "memory");
	increment(&left);
	return unused;
}

int main(void)
{
	pthread_t one, two;

	pthread_create(&one, NULL, meet, NULL);
	pthread_create(&two, NULL, meet, NULL);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	assert(load(&left) == 2);
	return 0;
}
