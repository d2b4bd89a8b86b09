/* EXPECT: deadlock strategy=pct,depth=2 runs<=1000 */
/*
 * Pattern: lock-order deadlock with two locks.
 *
 * A transfer locks the account it takes from and then the one it gives to. Two transfers in
 * opposite directions take the same two locks in opposite orders.
 *
 * Fails when: main.0 locks checking and main.1 locks savings before either takes its second lock.
 */
#include <pthread.h>
#include <stdio.h>

struct account {
	pthread_mutex_t lock;
	long balance; /* guarded by lock */
};

struct transfer {
	struct account *from, *to;
	long amount;
};

static struct account checking = {.lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100};
static struct account savings = {.lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100};

static void *perform(void *argument)
{
	struct transfer *transfer = argument;
	struct account *first = transfer->from;
	struct account *second = transfer->to;

	pthread_mutex_lock(&first->lock);
	pthread_mutex_lock(&second->lock);
	transfer->from->balance -= transfer->amount;
	transfer->to->balance += transfer->amount;
	pthread_mutex_unlock(&second->lock);
	pthread_mutex_unlock(&first->lock);
	return NULL;
}

int main(void)
{
	struct transfer transfers[2] = {
		{.from = &checking, .to = &savings, .amount = 30},
		{.from = &savings, .to = &checking, .amount = 20},
	};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, perform, &transfers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("checking %ld, savings %ld\n", checking.balance, savings.balance);
	return 0;
}
