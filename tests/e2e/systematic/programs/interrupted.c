/*
 * interrupted HOW VALUE: a thread counts to 2, with an operation before each step. main interrupts it by a signal to
 * the thread (1) or to the process (2), or by a request to end (3), or copies its state by a fork (4). The program
 * fails if the thread had counted to VALUE. Each of 0, 1 and 2 is possible.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int count, seen = -1;

static void handle(int signal)
{
	(void)signal;
	seen = count;
}

static void *work(void *unused)
{
	for (int i = 0; i < 2; i++) {
		pthread_testcancel();
		count = count + 1;
	}
	pthread_testcancel();
	return unused;
}

int main(int argc, char **argv)
{
	const int how = atoi(argv[1]), value = argc > 2 ? atoi(argv[2]) : -2;
	sigset_t signals;
	pthread_t thread;
	pid_t child;
	int status;

	signal(SIGUSR1, handle);
	pthread_create(&thread, NULL, work, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (how == 1)
		pthread_kill(thread, SIGUSR1);
	if (how == 2)
		kill(getpid(), SIGUSR1);
	if (how == 3)
		pthread_cancel(thread);
	if (how == 4) {
		child = fork();
		if (child == 0)
			_exit(count);
		waitpid(child, &status, 0);
		seen = WEXITSTATUS(status);
	}
	pthread_join(thread, NULL);
	return (how == 3 ? count : seen) == value;
}
