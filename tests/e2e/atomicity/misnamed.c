/* An annotation with a name that the program does not have. */
#include <pthread.h>
#include <raddle.h>

struct pair {
	long first, second;
};

static struct pair pair;

RADDLE_UNIT("pear_add");

static __attribute__((noinline)) void pair_add(struct pair *to)
{
	to->first++;
	to->second++;
}

static void *add(void *unused)
{
	pair_add(&pair);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, add, NULL);
	pthread_join(thread, NULL);
	return 0;
}
