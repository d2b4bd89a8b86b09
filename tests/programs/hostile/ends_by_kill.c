/* EXPECT: crash(SIGKILL) runs<=1 */
/* Kills itself with a signal that nobody can handle. */
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
