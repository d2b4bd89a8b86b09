/*
 * Fails while another process of the program runs. Each run appends "alone" or "disturbed" to the file "runs".
 * The file "running" holds the process that runs; one that was killed does not count.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static void *add(void *sum)
{
	for (int i = 0; i < 1000000; i++)
		*(volatile int *)sum += i & 1;
	return NULL;
}

static bool claim(void)
{
	const pid_t self = getpid();
	pid_t other = 0;
	int file = open("running", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (file < 0) {
		file = open("running", O_RDWR | O_CLOEXEC);
		/* empty: the other process is about to write */
		if (file >= 0 &&
			(read(file, &other, sizeof other) != sizeof other || kill(other, 0) == 0)) {
			close(file);
			return false;
		}
		if (file < 0 || lseek(file, 0, SEEK_SET) != 0)
			return false;
	}
	if (write(file, &self, sizeof self) != sizeof self)
		return false;
	close(file);
	return true;
}

int main(void)
{
	pthread_t thread;
	int sum = 0, log;
	bool is_alone;
	const char *line;

	if (pthread_create(&thread, NULL, add, &sum) != 0)
		return 2;
	is_alone = claim();
	line = is_alone ? "alone\n" : "disturbed\n";
	log = open("runs", O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
	if (log < 0 || write(log, line, strlen(line)) != (ssize_t)strlen(line))
		return 2;
	close(log);
	pthread_join(thread, NULL);
	if (!is_alone)
		return 1;
	return unlink("running") != 0 || sum != 500000;
}
