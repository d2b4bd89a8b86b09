/* EXPECT: deadlock runs<=200 */
/*
 * Forks while another thread may hold a lock. The child has a copy of the lock, but not the thread
 * that would release it: the child waits for ever, and its parent waits for the child.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;

static void log_line(void)
{
	pthread_mutex_lock(&lock);
	lines++;
	pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
	log_line();
	log_line();
	return unused;
}

int main(void)
{
	pthread_t thread;
	int status = 0;
	pid_t child;

	pthread_create(&thread, NULL, work, NULL);
	child = fork();
	if (child == 0) {
		log_line();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 2;
	pthread_join(thread, NULL);
	return status != 0;
}
