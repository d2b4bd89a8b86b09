/*
 * A library that counts without a lock. With LIBRARY defined this is the library; without it, a program whose threads
 * both count. Only a library built by raddle-cc shows the lost count.
 */
void count_one(void);
int count_read(void);

#ifdef LIBRARY
static int count;

void count_one(void)
{
	count++;
}

int count_read(void)
{
	return count;
}
#else
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static void *count_in_thread(void *unused)
{
	count_one();
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count_in_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(count_read() == 2);
	return 0;
}
#endif
