/* EXPECT: abort runs<=3000 needs=memory */
/*
 * Each of two transfers withdraws under the lock of one account and deposits under that of the other. An audit locks all
 * accounts. A sum that lacks one transfer is expected and excused. It fails when both transfers are between their two
 * halves during the audit.
 */
#include <pthread.h>
#include <stdlib.h>

#define ACCOUNTS 3
#define TRANSFERS 2
#define START 100
#define AMOUNT 10

static pthread_mutex_t locks[ACCOUNTS] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int balances[ACCOUNTS] = {START, START, START};

static void change(int account, int amount)
{
	pthread_mutex_lock(&locks[account]);
	balances[account] += amount;
	pthread_mutex_unlock(&locks[account]);
}

static void *transfer(void *from)
{
	const int account = *(const int *)from;

	change(account, -AMOUNT);
	change(account + 1, AMOUNT);
	return NULL;
}

static void *audit(void *unused)
{
	int sum = 0;

	(void)unused;
	for (int i = 0; i < ACCOUNTS; i++)
		pthread_mutex_lock(&locks[i]);
	for (int i = 0; i < ACCOUNTS; i++)
		sum += balances[i];
	for (int i = 0; i < ACCOUNTS; i++)
		pthread_mutex_unlock(&locks[i]);
	if (sum < ACCOUNTS * START - AMOUNT)
		abort();
	return NULL;
}

int main(void)
{
	static const int from[TRANSFERS] = {0, 1};
	pthread_t threads[TRANSFERS + 1];

	for (int i = 0; i < TRANSFERS; i++)
		pthread_create(&threads[i], NULL, transfer, (void *)&from[i]);
	pthread_create(&threads[TRANSFERS], NULL, audit, NULL);
	for (int i = 0; i <= TRANSFERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
