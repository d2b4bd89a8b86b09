/*
 * Accounts on the heap, with transfers by any free thread of a pool of four: neither threads nor
 * locks have the same names in two runs.
 */
#include <pthread.h>
#include <stdlib.h>

#define ACCOUNTS 6
#define TRANSFERS 8

struct account {
	pthread_mutex_t lock;
	int balance;
};

static struct account *accounts[ACCOUNTS];
static pthread_mutex_t next_lock = PTHREAD_MUTEX_INITIALIZER;
static int next;

static struct account *account(int number)
{
	struct account *made = calloc(1, sizeof *made);

	(void)number;
	pthread_mutex_init(&made->lock, NULL);
	return made;
}

static void transfer(struct account *from, struct account *to)
{
	pthread_mutex_lock(&from->lock);
	from->balance--;
	pthread_mutex_lock(&to->lock);
	to->balance++;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
}

static void *work(void *unused)
{
	for (;;) {
		int job;

		pthread_mutex_lock(&next_lock);
		job = next++;
		pthread_mutex_unlock(&next_lock);
		if (job >= TRANSFERS)
			return unused;
		/* Pairs far apart, so that only two neighbouring jobs can meet. */
		transfer(accounts[job / 2 % 3 * 2 + job % 2],
			accounts[job / 2 % 3 * 2 + 1 - job % 2]);
	}
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < ACCOUNTS; i++)
		accounts[i] = account(i);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
