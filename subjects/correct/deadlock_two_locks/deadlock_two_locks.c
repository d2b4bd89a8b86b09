/* EXPECT: passed runs=20000 */
/*
 * Pattern: two locks, one order.
 *
 * A transfer locks both accounts, and two transfers go in opposite directions.
 *
 * Corrected: the account at the lower address is locked first. Cannot fail: both transfers take the
 * two locks in one order, and a holder of the second one never waits.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
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
	bool in_order = (uintptr_t)transfer->from < (uintptr_t)transfer->to;
	struct account *first = in_order ? transfer->from : transfer->to;
	struct account *second = in_order ? transfer->to : transfer->from;

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
