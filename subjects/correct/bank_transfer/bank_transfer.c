/* EXPECT: passed runs=500 needs=memory */
/* The twin of bank_transfer: a transfer locks both accounts, in the order of their numbers. */
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
	account->balance -= amount;
	pthread_mutex_unlock(&account->lock);
}

static void lock_both(struct account *one, struct account *other)
{
	struct account *first = one->number < other->number ? one : other;

	pthread_mutex_lock(&first->lock);
	pthread_mutex_lock(first == one ? &other->lock : &one->lock);
}

static void transfer(struct account *from, struct account *to, int amount)
{
	lock_both(from, to);
	if (from->balance >= amount) {
		from->balance -= amount;
		to->balance += amount;
	}
	pthread_mutex_unlock(&from->lock);
	pthread_mutex_unlock(&to->lock);
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
