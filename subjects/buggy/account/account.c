/* EXPECT: abort strategy=random runs<=200 */
/*
 * Pattern: two locked halves (an update that is locked while it reads and locked while it writes).
 *
 * A bank account whose getter and setter are each safe. A deposit uses both, and between them the
 * account is unlocked.
 *
 * Fails when: main.0 locks and unlocks in account_balance; main.1 performs its whole deposit;
 * main.0 locks in account_set_balance and writes a sum that knows nothing of main.1's deposit.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-TABLE: Account threads=3 schedules=19
 * EXPECT-BRANCH: assert(account_balance(&savings) == 100 + DEPOSITS * (10 + 25)); [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define DEPOSITS 2

struct account {
	pthread_mutex_t lock;
	long balance; /* guarded by lock */
};

static struct account savings = {.lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100};

static long account_balance(struct account *account)
{
	pthread_mutex_lock(&account->lock);
	long balance = account->balance;
	pthread_mutex_unlock(&account->lock);
	return balance;
}

static void account_set_balance(struct account *account, long balance)
{
	pthread_mutex_lock(&account->lock);
	account->balance = balance;
	pthread_mutex_unlock(&account->lock);
}

static void account_deposit(struct account *account, long amount)
{
	account_set_balance(account, account_balance(account) + amount);
}

static void *teller(void *amount)
{
	for (int i = 0; i < DEPOSITS; i++)
		account_deposit(&savings, *(long *)amount);
	return NULL;
}

int main(void)
{
	pthread_t tellers[2];
	long amounts[2] = {10, 25};

	for (int i = 0; i < 2; i++)
		pthread_create(&tellers[i], NULL, teller, &amounts[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(tellers[i], NULL);

	assert(account_balance(&savings) == 100 + DEPOSITS * (10 + 25));
	printf("balance %ld\n", savings.balance);
	return 0;
}
