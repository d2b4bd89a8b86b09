/* Failures at a value that another thread has written: values lost | gone | early | certain | joined. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance; /* guarded by lock, but not from the read to the write */
static _Atomic(const char *) name = "session";
static atomic_int state;
static int uses; /* guarded by lock */

static int balance_now(void)
{
	int seen;

	pthread_mutex_lock(&lock);
	seen = balance; /* READ */
	pthread_mutex_unlock(&lock);
	return seen;
}

static void *deposit(void *unused)
{
	const int seen = balance_now();

	pthread_mutex_lock(&lock);
	balance = seen + 1; /* WRITTEN */
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *use_name(void *unused)
{
	if (atomic_load(&name))			    /* TESTED */
		assert(*atomic_load(&name) == 's'); /* USED */
	return unused;
}

static void *drop_name(void *unused)
{
	atomic_store(&name, NULL); /* DROPPED */
	return unused;
}

static void *use_dropped(void *unused)
{
	assert(*atomic_load(&name) == 's'); /* FAILS */
	return unused;
}

static void *begin(void *unused)
{
	pthread_mutex_lock(&lock);
	uses++;
	pthread_mutex_unlock(&lock);
	atomic_store(&state, 1); /* BEGUN */
	return unused;
}

static void *expect_idle(void *unused)
{
	const int seen = atomic_load(&state); /* SEEN */

	pthread_mutex_lock(&lock);
	uses++;
	pthread_mutex_unlock(&lock);
	assert(seen == 0); /* EXPECTED */
	return unused;
}

static void run_both(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *scene = argc > 1 ? argv[1] : "";

	if (!strcmp(scene, "lost")) {
		run_both(deposit, deposit);
		assert(balance_now() == 2); /* SUM */
	} else if (!strcmp(scene, "gone")) {
		run_both(use_name, drop_name);
	} else if (!strcmp(scene, "early")) {
		run_both(expect_idle, begin);
	} else if (!strcmp(scene, "certain")) {
		pthread_t thread;

		pthread_create(&thread, NULL, drop_name, NULL);
		pthread_join(thread, NULL);
		pthread_create(&thread, NULL, use_dropped, NULL);
		pthread_join(thread, NULL);
	} else {
		run_both(begin, begin);
		assert(atomic_load(&state) == 2);
	}
	return 0;
}
