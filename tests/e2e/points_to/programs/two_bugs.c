/* Two races, one on each variable: which is found depends on --variables. */
#include <assert.h>
#include <pthread.h>

struct counts {
	long first;
	long second;
};

static struct counts counts;

__attribute__((noinline)) static void count_first(struct counts *to)
{
	to->first++;
}

__attribute__((noinline)) static void count_second(struct counts *to)
{
	to->second++;
}

static void *work(void *nothing)
{
	count_first(&counts);
	count_second(&counts);
	return nothing;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(counts.first == 2);
	assert(counts.second == 2);
	return 0;
}
