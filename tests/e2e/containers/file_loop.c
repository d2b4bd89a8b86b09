/* A thread synchronises a file until a plain flag changes. */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int is_over;

static void *synchronise_until_over(void *unused)
{
	const int file = memfd_create("file", 0);

	while (!is_over)
		(void)!fsync(file);
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, synchronise_until_over, NULL))
		return 1;
	is_over = 1;
	return pthread_join(thread, NULL);
}
