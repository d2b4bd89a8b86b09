/* A signal that precedes the change of what the other thread waits for: `early N`, N times by the same code. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int count;

static void *consume(void *total)
{
	for (int *left = total; *left; --*left) {
		pthread_mutex_lock(&lock);
		while (!count)
			pthread_cond_wait(&filled, &lock); /* WAIT */
		count--;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void produce(void)
{
	pthread_cond_signal(&filled); /* SIGNAL */
	pthread_mutex_lock(&lock);
	count++; /* CHANGE */
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	const int total = argc > 1 ? atoi(argv[1]) : 1;
	int left = total;
	pthread_t thread;

	pthread_create(&thread, NULL, consume, &left);
	for (int i = 0; i < total; i++)
		produce();
	return pthread_join(thread, NULL);
}
