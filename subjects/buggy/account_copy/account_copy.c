/* EXPECT: abort runs<=300 needs=memory */
/*
 * An account with two balances. The program has no race and a lock around every access, but is
 * wrong: a copy of an account reads each balance by itself. After the running example of Lai,
 * Cheung and Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs
 * through Active Randomized Testing", ICSE 2010, section 2.
 *
 * Fails when: main.0 copies the checking balance; main.1 moves money from checking to savings, both in one
 * locked step; main.0 copies the savings balance, and its copy has more money than there is.
 *
 * EXPECT-PATTERN: R1x-W2x-W2y-R1y account.checking @checking @from @to @savings
 * EXPECT-VIOLATION: R1x-W2x-W2y-R1y account_copy transfer @checking @from @to @savings
 * EXPECT-BRANCH: assert(total == 200); [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct account {
	pthread_mutex_t lock;
	long checking; /* guarded by lock */
	long savings;  /* guarded by lock */
};

static struct account account = {PTHREAD_MUTEX_INITIALIZER, 100, 100};

static long account_checking(struct account *of)
{
	pthread_mutex_lock(&of->lock);
	const long checking = of->checking; /* @checking */
	pthread_mutex_unlock(&of->lock);
	return checking;
}

static long account_savings(struct account *of)
{
	pthread_mutex_lock(&of->lock);
	const long savings = of->savings; /* @savings */
	pthread_mutex_unlock(&of->lock);
	return savings;
}

static void account_copy(struct account *copy, struct account *original)
{
	pthread_mutex_init(&copy->lock, NULL);
	copy->checking = account_checking(original);
	copy->savings = account_savings(original);
}

static void transfer(struct account *in, long amount)
{
	pthread_mutex_lock(&in->lock);
	in->checking -= amount; /* @from */
	in->savings += amount;	/* @to */
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

/* Steps of its own that the second thread makes first: the first argument. */
static long steps_apart;

static void stay_apart(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
}

static void *save(void *unused)
{
	stay_apart();
	transfer(&account, 50);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t reporter, saver;
	long total = 0;

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	pthread_create(&reporter, NULL, report, &total);
	pthread_create(&saver, NULL, save, NULL);
	pthread_join(reporter, NULL);
	pthread_join(saver, NULL);
	assert(total == 200);
	assert(account_total(&account) == 200);
	return 0;
}
