/*
 * The running example of Lai, Cheung and Chan, ICSE 2010, figures 1 and 2: an account is copied,
 * each balance with the locks of both, while interest is credited to it. Four places of the credit
 * leave the copy with balances of different times; the exit status names the place: 11 to 14.
 */
#include <pthread.h>
#include <stdlib.h>

#include <raddle.h>

struct account {
	pthread_mutex_t lock;
	long checking, savings; /* guarded by lock */
};

static struct account x = {PTHREAD_MUTEX_INITIALIZER, 100, 100};
static struct account y = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Progress of the copy, and its progress when interest was credited. */
static volatile int progress, credited_at;
RADDLE_NO_SET("progress");
RADDLE_NO_SET("credited_at");

static __attribute__((noinline)) long get_checking(struct account *of)
{
	pthread_mutex_lock(&of->lock);
	const long checking = of->checking;

	pthread_mutex_unlock(&of->lock);
	return checking;
}

static __attribute__((noinline)) long get_savings(struct account *of)
{
	pthread_mutex_lock(&of->lock);
	const long savings = of->savings;

	pthread_mutex_unlock(&of->lock);
	return savings;
}

static __attribute__((noinline)) void set_equal_checking(struct account *to, struct account *from)
{
	pthread_mutex_lock(&to->lock);
	const long checking = get_checking(from);

	progress = 1;
	to->checking = checking;
	progress = 2;
	pthread_mutex_unlock(&to->lock);
	progress = 3;
}

static __attribute__((noinline)) void set_equal_savings(struct account *to, struct account *from)
{
	pthread_mutex_lock(&to->lock);
	progress = 4;
	to->savings = get_savings(from);
	pthread_mutex_unlock(&to->lock);
}

static __attribute__((noinline)) void account_copy(struct account *to, struct account *from)
{
	set_equal_checking(to, from);
	set_equal_savings(to, from);
}

static __attribute__((noinline)) void credit_interest(struct account *to)
{
	pthread_mutex_lock(&to->lock);
	credited_at = progress;
	to->checking += 10;
	to->savings += 10;
	pthread_mutex_unlock(&to->lock);
}

static void *copy(void *unused)
{
	account_copy(&y, &x);
	return unused;
}

static void *credit(void *unused)
{
	credit_interest(&x);
	return unused;
}

int main(void)
{
	pthread_t copier, creditor;

	pthread_create(&copier, NULL, copy, NULL);
	pthread_create(&creditor, NULL, credit, NULL);
	pthread_join(copier, NULL);
	pthread_join(creditor, NULL);
	if (y.checking == y.savings)
		return 0;
	return 10 + (credited_at ? credited_at : 1);
}
