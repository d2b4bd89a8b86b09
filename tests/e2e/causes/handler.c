/* A signal handler takes the lock that the interrupted thread holds. */
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int requests; /* guarded by lock */

static void count_signal(int number)
{
	(void)number;
	pthread_mutex_lock(&lock); /* INSIDE */
	requests++;
	pthread_mutex_unlock(&lock);
}

static void *serve(void *unused)
{
	pthread_mutex_lock(&lock); /* HELD */
	requests++;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;
	struct sigaction action = {.sa_handler = count_signal};

	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, serve, NULL);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	return 0;
}
