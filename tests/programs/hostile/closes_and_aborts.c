/* EXPECT: abort runs<=1 */
/* Closes every descriptor in a thread, and then fails: the failure must still be heard of. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *work(void *unused)
{
	(void)unused;
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	abort();
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
