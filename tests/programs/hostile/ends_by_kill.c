/* EXPECT: refused runs<=1 */
/*
 * Kills itself with a signal that cannot be handled. raddle cannot distinguish this from a kill by another
 * process: it does not call the kill a failure of the program, tries again a few times and gives up.
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *work(void *unused)
{
	kill(getpid(), SIGKILL);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
