/*
 * A consumer waits for 10 ms for an item, which a producer delivers after 10 ms. If the item arrives at the end of the
 * wait, the consumer finds that its time is over, and does not look whether the item is there. This needs no stall, only
 * a producer that runs before the consumer whose wait has ended.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static bool is_there, has_given_up, is_lost;

static void *produce(void *unused)
{
	usleep(10000);
	pthread_mutex_lock(&lock);
	is_there = !has_given_up;
	pthread_cond_signal(&delivered);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *consume(void *unused)
{
	struct timespec end;
	int error = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += 10000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&lock);
	while (!is_there && !error)
		error = pthread_cond_timedwait(&delivered, &lock, &end);
	has_given_up = error == ETIMEDOUT;
	is_lost = has_given_up && is_there;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t consumer, producer;

	pthread_create(&consumer, NULL, consume, NULL);
	pthread_create(&producer, NULL, produce, NULL);
	pthread_join(consumer, NULL);
	pthread_join(producer, NULL);
	return is_lost;
}
