/* EXPECT: passed runs=300 needs=memory */
/* The twin of account_copy: both balances are copied in one locked step. */
#include <assert.h>
#include <pthread.h>

struct account {
	pthread_mutex_t lock;
	long checking; /* guarded by lock */
	long savings;  /* guarded by lock */
};

static struct account account = {PTHREAD_MUTEX_INITIALIZER, 100, 100};

static void account_copy(struct account *copy, struct account *original)
{
	pthread_mutex_init(&copy->lock, NULL);
	pthread_mutex_lock(&original->lock);
	copy->checking = original->checking;
	copy->savings = original->savings;
	pthread_mutex_unlock(&original->lock);
}

static void transfer(struct account *in, long amount)
{
	pthread_mutex_lock(&in->lock);
	in->checking -= amount;
	in->savings += amount;
	pthread_mutex_unlock(&in->lock);
}

static long account_total(struct account *of)
{
	pthread_mutex_lock(&of->lock);
	const long total = of->checking + of->savings;
	pthread_mutex_unlock(&of->lock);
	return total;
}

static void *report(void *total)
{
	struct account copy;

	account_copy(&copy, &account);
	*(long *)total = account_total(&copy);
	pthread_mutex_destroy(&copy.lock);
	return NULL;
}

static void *save(void *unused)
{
	transfer(&account, 50);
	return unused;
}

int main(void)
{
	pthread_t reporter, saver;
	long total = 0;

	pthread_create(&reporter, NULL, report, &total);
	pthread_create(&saver, NULL, save, NULL);
	pthread_join(reporter, NULL);
	pthread_join(saver, NULL);
	assert(total == 200);
	assert(account_total(&account) == 200);
	return 0;
}
