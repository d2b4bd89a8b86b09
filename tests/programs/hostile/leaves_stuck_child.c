/* EXPECT: passed runs=3 */
/*
 * A stuck child is no deadlock if its parent ends the child: this parent waits for a short time,
 * and kills it.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int child;

static void *end_child(void *unused)
{
	usleep(50000);
	kill(child, SIGKILL);
	return unused;
}

int main(void)
{
	pthread_t thread;
	int status = 0;

	pthread_mutex_lock(&lock);
	child = fork();
	if (child == 0) {
		pthread_mutex_lock(&lock);
		_exit(0);
	}
	pthread_mutex_unlock(&lock);
	if (child < 0 || pthread_create(&thread, NULL, end_child, NULL) != 0 ||
		waitpid(child, &status, 0) != child)
		return 2;
	pthread_join(thread, NULL);
	return !WIFSIGNALED(status);
}
