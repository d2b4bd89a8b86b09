/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: account (a transfer locks the account that it takes from, and forgets the other).
 *
 * Fails when: main.0, which transfers from checking to savings with checking locked, reads
 * savings.balance; main.1 withdraws from savings with savings locked; main.0 writes what it had read
 * plus the amount, and the withdrawal is undone. Or main.1 has read when main.0 writes.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 savings.balance @give @withdraw @give
 * EXPECT-PATTERN: R1-W2-W1 savings.balance @withdraw @give @withdraw
 * EXPECT-BRANCH: assert(savings.balance == 400 + TRANSFERS * 10); [bug]
 */
#include <assert.h>
#include <pthread.h>

#define TRANSFERS 2

struct account {
	pthread_mutex_t lock;
	int number;
	int balance; /* guarded by lock */
};

static struct account checking = {.lock = PTHREAD_MUTEX_INITIALIZER, .number = 1, .balance = 500};
static struct account savings = {.lock = PTHREAD_MUTEX_INITIALIZER, .number = 2, .balance = 500};

static void deposit(struct account *account, int amount)
{
	pthread_mutex_lock(&account->lock);
	account->balance += amount;
	pthread_mutex_unlock(&account->lock);
}

static void withdraw(struct account *account, int amount)
{
	pthread_mutex_lock(&account->lock);
	account->balance -= amount; /* @withdraw */
	pthread_mutex_unlock(&account->lock);
}

static void transfer(struct account *from, struct account *to, int amount)
{
	pthread_mutex_lock(&from->lock);
	if (from->balance >= amount) {
		from->balance -= amount;
		to->balance += amount; /* @give */
	}
	pthread_mutex_unlock(&from->lock);
}

static void *save(void *unused)
{
	for (int i = 0; i < TRANSFERS; i++)
		transfer(&checking, &savings, 10);
	return unused;
}

static void *spend(void *unused)
{
	withdraw(&savings, 100);
	return unused;
}

static void *earn(void *unused)
{
	deposit(&checking, 1000);
	return unused;
}

int main(void)
{
	void *(*const tellers[])(void *) = {save, spend, earn};
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, tellers[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert(checking.balance == 1500 - TRANSFERS * 10);
	assert(savings.balance == 400 + TRANSFERS * 10);
	return 0;
}
