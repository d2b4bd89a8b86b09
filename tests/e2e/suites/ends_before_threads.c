/* The second process that starts in a folder ends before its first thread. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock_twice(void *unused)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

int main(void)
{
	const int starts = open("starts", O_CREAT | O_WRONLY | O_APPEND, 0600);
	pthread_t threads[2];

	if (write(starts, "\n", 1) != 1 || lseek(starts, 0, SEEK_END) == 2)
		abort();
	(void)close(starts);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, lock_twice, NULL) != 0)
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
