/* EXPECT: passed runs=3000 needs=memory */
/*
 * The corrected twin of transfers_audit: a transfer holds the locks of both accounts, in the order of the audit. No audit
 * sees a half.
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

static void *transfer(void *from)
{
	const int account = *(const int *)from;

	pthread_mutex_lock(&locks[account]);
	pthread_mutex_lock(&locks[account + 1]);
	balances[account] -= AMOUNT;
	balances[account + 1] += AMOUNT;
	pthread_mutex_unlock(&locks[account + 1]);
	pthread_mutex_unlock(&locks[account]);
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
