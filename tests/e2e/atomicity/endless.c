/*
 * A unit of work that never ends: it works as long as other units exist, and then exits its thread.
 * If an argument is given, the unit still works when main ends.
 */
#include <pthread.h>
#include <stdlib.h>

struct pair {
	pthread_mutex_t lock;
	long first, second; /* guarded by lock, and equal */
};

static struct pair pair = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static __attribute__((noinline)) void pair_add(struct pair *to, long much)
{
	pthread_mutex_lock(&to->lock);
	to->first += much;
	to->second += much;
	pthread_mutex_unlock(&to->lock);
}

/* A unit of work that continues while other threads run. */
static __attribute__((noinline)) void pair_watch(struct pair *of)
{
	for (;;) {
		pthread_mutex_lock(&done_lock);
		const int is_done = done;

		pthread_mutex_unlock(&done_lock);
		if (is_done)
			pthread_exit(NULL);
		pthread_mutex_lock(&of->lock);
		if (of->first != of->second) /* both in one hold */
			abort();
		pthread_mutex_unlock(&of->lock);
	}
}

static void *watch(void *unused)
{
	pair_watch(&pair);
	return unused;
}

static void *add(void *unused)
{
	pair_add(&pair, 1);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t adder, watcher;

	pthread_create(&watcher, NULL, watch, NULL);
	pthread_create(&adder, NULL, add, NULL);
	pthread_join(adder, NULL);
	if (count > 1 && arguments[1])
		return 0;
	pthread_mutex_lock(&done_lock);
	done = 1;
	pthread_mutex_unlock(&done_lock);
	pthread_join(watcher, NULL);
	return 0;
}
