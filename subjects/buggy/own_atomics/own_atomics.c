/* EXPECT: abort runs<=200 needs=memory */
/*
 * Threads that synchronise by atomic operations in assembly, as in older libraries, and count at
 * the exit. Fails: main.0 reads the count; main.1 reads and writes it; main.0 writes it.
 */
#include <assert.h>
#include <pthread.h>

static int arrived, left;

static int load(const int *at)
{
	int value;

	__asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*at) : "memory");
	return value;
}

static void store(int *at, int value)
{
	__asm__ volatile("movl %1, %0" : "=m"(*at) : "ir"(value) : "memory");
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
	store(&left, load(&left) + 1);
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
