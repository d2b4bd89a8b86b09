/*
 * EXPECT-BRANCH: if (money < 5) { [bug]
 *
 * Deadlock: a transfer locks its second account only if the first has become too poor; the other
 * transfer holds the second account then, and waits for the first.
 */
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static int money = 10, reserve = 10;

static void *withdraw(void *unused)
{
	pthread_mutex_lock(&first);
	if (money < 5) {
		pthread_mutex_lock(&second);
		reserve -= 5;
		pthread_mutex_unlock(&second);
	}
	pthread_mutex_unlock(&first);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, withdraw, NULL);
	pthread_mutex_lock(&first);
	money -= 8;
	pthread_mutex_unlock(&first);
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	money += reserve;
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	pthread_join(thread, NULL);
	return 0;
}
