/*
 * EXPECT-BRANCH: if (look() > 0) [bug]
 *
 * Shop: customers test whether a piece is left, and take it in a second locked step. The last piece
 * is sold twice if one customer tests between the other's test and sale.
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 1;

static int look(void)
{
	int left;

	pthread_mutex_lock(&lock);
	left = stock;
	pthread_mutex_unlock(&lock);
	return left;
}

static void take(void)
{
	pthread_mutex_lock(&lock);
	stock--;
	assert(stock >= 0);
	pthread_mutex_unlock(&lock);
}

static void *buy(void *unused)
{
	if (look() > 0)
		take();
	return unused;
}

int main(void)
{
	pthread_t first, second;

	pthread_create(&first, NULL, buy, NULL);
	pthread_create(&second, NULL, buy, NULL);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	return 0;
}
