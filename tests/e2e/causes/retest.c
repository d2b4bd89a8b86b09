/*
 * retest WHAT: two threads take an item each from a stock that main fills. WHAT: if (the waiter does not test the stock
 * again), while (it does; the assertions about `taken' fail, which no lock protects).
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items, taken;

static void *take_without_loop(void *unused)
{
	pthread_mutex_lock(&lock);
	if (items == 0)				   /* TEST */
		pthread_cond_wait(&filled, &lock); /* WAIT */
	items = items - 1;			   /* TAKEN */
	assert(items >= 0);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *take(void *unused)
{
	int before = taken;

	pthread_mutex_lock(&lock);
	while (items == 0)
		pthread_cond_wait(&filled, &lock);
	items = items - 1;
	pthread_mutex_unlock(&lock);
	taken = before + 1;
	assert(taken == before + 1);
	return unused;
}

static void put(void)
{
	pthread_mutex_lock(&lock);
	items++;
	pthread_cond_signal(&filled); /* SIGNAL */
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	void *(*routine)(void *) = argc > 1 && !strcmp(argv[1], "while") ? take : take_without_loop;
	pthread_t one, two;

	pthread_create(&one, NULL, routine, NULL);
	pthread_create(&two, NULL, routine, NULL);
	put();
	put();
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	assert(routine != take || taken == 2);
	return 0;
}
