/*
 * interrupted_wait HOW SEEN: a thread waits for a mutex. Meanwhile the owner sends a signal to the thread (1) or to the process
 * (2), asks the thread to end (3), or forks (4), and changes a value before and after. The program fails if the value SEEN was
 * seen by the handler, or in 3 and 4 by the thread itself. Possible are 1, 2 and 3, in 3 and 4 only 3, and always -1: the thread
 * had the mutex before the other one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int value, seen = -1;
static int how;
static pthread_t waiter;

static void handle(int signal)
{
	(void)signal;
	seen = value;
}

static void *wait_for_mutex(void *unused)
{
	pthread_mutex_lock(&mutex);
	if (how > 2 && value)
		seen = value;
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void interrupt(void)
{
	if (how == 2)
		kill(getpid(), SIGUSR1);
	else if (how == 3)
		pthread_cancel(waiter);
	else if (how == 4 && fork() == 0)
		_exit(0);
	else if (how == 4)
		wait(NULL);
	else
		pthread_kill(waiter, SIGUSR1);
}

int main(int argc, char **argv)
{
	const int wanted = argc > 2 ? atoi(argv[2]) : -2;
	sigset_t signals;

	how = atoi(argv[1]);
	signal(SIGUSR1, handle);
	pthread_create(&waiter, NULL, wait_for_mutex, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	pthread_mutex_lock(&mutex);
	value = 1;
	interrupt();
	value = 2;
	value = 3;
	pthread_mutex_unlock(&mutex);
	pthread_join(waiter, NULL);
	return seen == wanted;
}
