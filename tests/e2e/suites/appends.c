/* Opens a file before the first thread, and requires that it holds the lines of this process only. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static int file;

static void *append(void *unused)
{
	return write(file, "line\n", 5) == 5 ? unused : NULL;
}

int main(void)
{
	pthread_t threads[2];
	struct stat status;

	file = open("log", O_CREAT | O_TRUNC | O_APPEND | O_WRONLY, 0600);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, append, NULL) != 0)
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return fstat(file, &status) != 0 || status.st_size != 10;
}
