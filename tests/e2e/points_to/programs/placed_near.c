/* Static data of which several share eight bytes, and a struct on main's stack that threads are given. */
#include <assert.h>
#include <pthread.h>

struct pair {
	int first, second;
	char mark;
	long unused;
};

static char mark;
static int low, high;
static short odd[3];

static void *work(void *argument)
{
	struct pair *pair = argument;
	int before = pair->first;

	pair->first = before + 1;
	pair->mark++;
	before = low;
	low = before + 1;
	odd[1]++;
	high++;
	mark++;
	return NULL;
}

int main(void)
{
	int sum = 0, seen[3] = {0};
	struct pair pair = {0};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &pair);
	pair.second++;
	seen[0] = pair.first;
	sum += low;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(pair.first >= 1 && sum < 100 && seen[0] < 3);
	return 0;
}
