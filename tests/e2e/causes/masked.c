/* A thread for signals, whose program blocks the signal only after it has created another thread: masked unused. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static void *work(void *unused)
{
	return unused;
}

static void *await(void *signals)
{
	int signal;

	sigwait(signals, &signal);
	return NULL;
}

int main(void)
{
	sigset_t signals;
	pthread_t worker, waiter;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	pthread_create(&worker, NULL, work, NULL);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	pthread_create(&waiter, NULL, await, &signals);
	kill(getpid(), SIGTERM); /* SENT */
	pthread_join(worker, NULL);
	pthread_join(waiter, NULL);
	return 0;
}
