/* Threads add to another variable in every second process: by a file, which argv[1] names. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static long one[16], other[16]; /* far from each other, and from what says which */
static int is_other;

static void *add(void *unused)
{
	if (is_other)
		other[8]++;
	else
		one[8]++;
	return unused;
}

/* The file gets longer by a byte each time. */
static int is_second(const char *path)
{
	const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (file < 0 || write(file, "", 1) != 1)
		abort();
	return lseek(file, 0, SEEK_END) % 2 == 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	is_other = argc > 1 && is_second(argv[1]);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
