/* Fails while another process of the program runs, and counts such runs in the file "disturbed". */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static void *add(void *sum)
{
	for (int i = 0; i < 1000000; i++)
		*(volatile int *)sum += i & 1;
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int sum = 0, file;

	if (pthread_create(&thread, NULL, add, &sum) != 0)
		return 2;
	file = open("running", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (file < 0) {
		file = open("disturbed", O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
		return write(file, "line\n", 5) == 5 ? 1 : 2;
	}
	close(file);
	pthread_join(thread, NULL);
	return unlink("running") != 0 || sum != 500000;
}
