/*
 * A call whose locals two threads share returns before the run fails: two sellers may sell the same seat. With
 * ONLY_JOINS only these threads use the locals.
 */
#include <pthread.h>
#include <stdlib.h>

struct desk {
	pthread_mutex_t lock;
	int sold;
};

static int sold_last;

static void *sell(void *argument)
{
	struct desk *desk = argument;
	int sold;

	pthread_mutex_lock(&desk->lock);
	sold = desk->sold;
	pthread_mutex_unlock(&desk->lock);
	pthread_mutex_lock(&desk->lock);
	desk->sold = sold + 1;
	sold_last = desk->sold;
	pthread_mutex_unlock(&desk->lock);
	return NULL;
}

static int open_desk(void)
{
	struct desk desk = {.lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t sellers[2];
	int sold;

	for (int i = 0; i < 2; i++)
		pthread_create(&sellers[i], NULL, sell, &desk);
	for (int i = 0; i < 2; i++)
		pthread_join(sellers[i], NULL);
#ifdef ONLY_JOINS
	sold = sold_last;
#else
	pthread_mutex_lock(&desk.lock);
	sold = desk.sold;
	pthread_mutex_unlock(&desk.lock);
#endif
	return sold;
}

int main(void)
{
	if (open_desk() != 2)
		abort();
	return 0;
}
