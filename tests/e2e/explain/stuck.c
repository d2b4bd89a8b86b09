/* Two locks in opposite orders: natively the process stands still for good when it fails. */
#include <pthread.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static int moves;

static void *work(void *argument)
{
	pthread_mutex_t *const first = argument;

	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(first);
		pthread_mutex_lock(first == &left ? &right : &left);
		moves++;
		pthread_mutex_unlock(&left);
		pthread_mutex_unlock(&right);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, work, &left);
	pthread_create(&threads[1], NULL, work, &right);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return moves != 6;
}
