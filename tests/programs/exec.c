/* EXPECT: passed runs=10 */
/*
 * A program with threads that replaces itself: the new image starts with one thread, its arguments and
 * environment as given, and descriptors as they were.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static sem_t never_posted;

static void *stay(void *unused)
{
	sem_wait(&never_posted);
	return unused;
}

static void *end(void *unused)
{
	return unused;
}

static int live_again(char **argv)
{
	pthread_t thread;
	char text[8] = "";
	int kept = atoi(argv[2]);

	CHECK(strcmp(argv[1], "again") == 0);
	CHECK(getenv("KEPT") && strcmp(getenv("KEPT"), "this") == 0);
	CHECK(getenv("HOME") == NULL);
	CHECK(read(kept, text, 4) == 4 && strcmp(text, "left") == 0);
	CHECK(fcntl(kept + 1, F_GETFD) == -1 && errno == EBADF);
	MUST(pthread_create(&thread, NULL, end, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	return check_status();
}

int main(int argc, char **argv)
{
	static char *environment[] = {"KEPT=this", NULL};
	char kept[16];
	char *arguments[] = {argv[0], "again", kept, NULL};
	pthread_t thread;
	int ends[2], closing;

	if (argc == 3)
		return live_again(argv);
	MUST(sem_init(&never_posted, 0, 0) == 0);
	MUST(pthread_create(&thread, NULL, stay, NULL) == 0);
	CHECK(execv("/nowhere/to/be/found", arguments) == -1 && errno == ENOENT);
	MUST(pipe(ends) == 0);
	MUST(write(ends[1], "left", 4) == 4);
	MUST(dup2(ends[0], 100) == 100);
	closing = fcntl(ends[0], F_DUPFD_CLOEXEC, 101);
	CHECK(closing == 101);
	snprintf(kept, sizeof(kept), "%d", 100);
	fflush(stdout);
	execve("/proc/self/exe", arguments, environment);
	return 1;
}
