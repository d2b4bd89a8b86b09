/*
 * Baselines for the rewind of a large heap. Prints processor time per operation, in microseconds:
 *   baseline copy MEGABYTES N   copying the heap
 *   baseline fork MEGABYTES N   fork, exit and wait of a process with that heap
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/stopwatch.h"

static void fork_one(void)
{
	long child = syscall(SYS_fork);

	if (child == 0)
		(void)syscall(SYS_exit_group, 0);
	if (child < 0 || waitpid((pid_t)child, NULL, 0) < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	struct stopwatch watch;
	size_t bytes = argc == 4 ? (size_t)atol(argv[2]) * 1024 * 1024 : 0;
	int count = argc == 4 ? atoi(argv[3]) : 0;
	char *from = malloc(bytes);
	char *to;

	if (!from || !bytes || count <= 0)
		return 2;
	memset(from, 1, bytes);
	if (strcmp(argv[1], "fork") == 0) {
		stopwatch_start(&watch);
		for (int i = 0; i < count; i++)
			fork_one();
	} else {
		to = malloc(bytes);
		if (!to)
			return 2;
		memset(to, 2, bytes);
		stopwatch_start(&watch);
		for (int i = 0; i < count; i++) {
			memcpy(to, from, bytes);
			__asm__ volatile("" ::"r"(to) : "memory"); /* the copy is wanted */
		}
		free(to);
	}
	stopwatch_stop(&watch);
	free(from);
	(void)printf("%.2f\n", watch.cpu_us / count);
	return 0;
}
