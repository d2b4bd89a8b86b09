/* EXPECT: passed runs=1 */
/*
 * Becomes a daemon: the started process ends at once with status 0. Its child does the work, with
 * threads, from another folder and without standard streams. raddle sees a program that makes no
 * thread.
 */
#include <pthread.h>
#include <unistd.h>

static void *work(void *unused)
{
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	if (daemon(0, 0) != 0)
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
