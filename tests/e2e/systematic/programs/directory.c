/* directory N: one thread makes a directory that N others look for. Calls that only look commute: 2^N traces. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];

static void *look(void *unused)
{
	struct stat status;

	(void)stat(path, &status);
	return unused;
}

static void *make(void *unused)
{
	if (mkdir(path, 0700))
		abort();
	return unused;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[32], maker;

	snprintf(path, sizeof path, "directory.%d", (int)getpid());
	pthread_create(&maker, NULL, make, NULL);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, look, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_join(maker, NULL);
	return rmdir(path);
}
