/* EXPECT: passed runs=3 */
/*
 * Leaves a child behind that lives much longer, in a session of its own, with the parent's standard
 * output still open. Waiting for the end of that output would take for ever.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *work(void *unused)
{
	return unused;
}

int main(void)
{
	pthread_t thread;
	pid_t child;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	child = fork();
	if (child < 0)
		return 1;
	if (child == 0) {
		setsid();
		execl("/bin/sleep", "sleep", "97", (char *)NULL);
		_exit(1);
	}
	printf("the child stays\n");
	return 0;
}
