/* EXPECT: hang runs<=1 options=--hang-time=1s */
/* The program of spins.c, with every signal blocked that can be blocked. */
#include <pthread.h>
#include <signal.h>

static volatile unsigned long rounds = 1;

static void *work(void *unused)
{
	sigset_t all;

	(void)unused;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
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
