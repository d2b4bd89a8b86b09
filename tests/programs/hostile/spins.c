/* EXPECT: hang runs<=1 options=--hang-time=1s */
/* A thread that computes for ever, without any operation that another thread could notice. */
#include <pthread.h>

static volatile unsigned long rounds = 1;

static void *work(void *unused)
{
	(void)unused;
	while (rounds)
		rounds++;
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
