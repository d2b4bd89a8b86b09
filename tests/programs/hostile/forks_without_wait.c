/* EXPECT: passed runs=10 */
/* Forks children that run threads of their own, and never asks how they ended. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *work(void *unused)
{
	return unused;
}

static void make_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
		abort();
}

int main(void)
{
	make_thread();
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child == 0) {
			make_thread();
			_exit(i); /* the status does not matter */
		}
	}
	make_thread();
	return 0;
}
