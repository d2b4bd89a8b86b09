/* Two threads update a balance in two critical sections each, and sleep. `unneeded after`: the
 * failure needs no stall. `unneeded before`: it needs one of less than a microsecond, because the
 * two sleeps begin at different times. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance; /* guarded by lock */
static bool sleeps_before;

static void *deposit(void *unused)
{
	int seen;

	for (int i = 0; i < 3; i++) {
		if (sleeps_before)
			usleep(100);
		pthread_mutex_lock(&lock);
		seen = balance;
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
		balance = seen + 1;
		pthread_mutex_unlock(&lock);
		if (!sleeps_before)
			usleep(100);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	sleeps_before = argc > 1 && !strcmp(argv[1], "before");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, deposit, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (balance != 6)
		abort();
	return 0;
}
