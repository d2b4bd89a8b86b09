/*
 * Baselines for runs. Prints processor time per operation, in microseconds:
 *   baseline spawn N PROGRAM [ARGUMENT...]   posix_spawn and wait
 *   baseline fork N            fork, exit and wait of this process, which touches nothing in between
 *   baseline copy BYTES N      copying that many bytes
 *   baseline forks N FILE      the same, into FILE: raddle keeps the output of its programs
 * and, started with libraddle.so preloaded, the resident private writable bytes of a small process:
 *   baseline image
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/stopwatch.h"

extern char **environ;

static void spawn_one(char **command)
{
	int status = 1;
	pid_t child;

	if (posix_spawn(&child, command[0], NULL, NULL, command, environ) != 0 ||
		waitpid(child, &status, 0) < 0 || status != 0) {
		(void)fprintf(stderr, "%s did not run\n", command[0]);
		exit(1);
	}
}

/* The bare system call: what libraries do around a fork is not its price. */
static void fork_one(void)
{
	long child = syscall(SYS_fork);

	if (child == 0)
		(void)syscall(SYS_exit_group, 0);
	if (child < 0 || waitpid((pid_t)child, NULL, 0) < 0)
		exit(1);
}

static void copy(size_t bytes, int count)
{
	char *from = malloc(bytes);
	char *to = malloc(bytes);

	if (!from || !to)
		exit(1);
	memset(from, 1, bytes);
	memset(to, 2, bytes);
	for (int i = 0; i < count; i++) {
		memcpy(to, from, bytes);
		__asm__ volatile("" ::"r"(to) : "memory"); /* the copy is wanted */
	}
	free(from);
	free(to);
}

static int print_image_bytes(void)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	char line[1024];
	char flags[8] = "";
	long sum_kilobytes = 0;
	long kilobytes;

	if (!file)
		return 1;
	while (fgets(line, sizeof line, file)) {
		if (sscanf(line, "%*x-%*x %7s", flags) == 1)
			continue;
		if (strcmp(flags, "rw-p") == 0 && sscanf(line, "Rss: %ld", &kilobytes) == 1)
			sum_kilobytes += kilobytes;
	}
	(void)fclose(file); /* the file was opened for reading */
	(void)printf("%ld\n", sum_kilobytes * 1024);
	return 0;
}

int main(int argc, char **argv)
{
	FILE *result = argc == 4 && strcmp(argv[1], "forks") == 0 ? fopen(argv[3], "w") : stdout;
	struct stopwatch watch;
	int count = argc > 2 ? atoi(argv[argc == 4 && strcmp(argv[1], "copy") == 0 ? 3 : 2]) : 0;

	if (argc == 2 && strcmp(argv[1], "image") == 0)
		return print_image_bytes();
	if (count <= 0 || !result)
		return 2;
	stopwatch_start(&watch);
	if (strcmp(argv[1], "copy") == 0)
		copy((size_t)atol(argv[2]), count);
	else
		for (int i = 0; i < count; i++) {
			if (strcmp(argv[1], "spawn") == 0)
				spawn_one(argv + 3);
			else
				fork_one();
		}
	stopwatch_stop(&watch);
	(void)fprintf(result, "%.3f\n", watch.cpu_us / count);
	return 0;
}
