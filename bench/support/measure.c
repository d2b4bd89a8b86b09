/*
 * measure FILE COMMAND...: runs the command and writes to FILE its duration,
 * and the processor time with all children that it waited for, in
 * microseconds. Also writes the peak memory of the largest of these processes,
 * in kB. Processor time is the better number on a machine with other load.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/stopwatch.h"

int main(int argc, char **argv)
{
	struct stopwatch watch;
	struct rusage used;
	int status = 0;
	pid_t child;
	FILE *file;

	if (argc < 3)
		return 2;
	stopwatch_start(&watch);
	child = fork();
	if (child == 0) {
		(void)execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 127;
	stopwatch_stop(&watch);
	file = fopen(argv[1], "w");
	(void)getrusage(RUSAGE_CHILDREN, &used); /* cannot fail */
	if (!file ||
		fprintf(file, "%.1f %.1f %ld\n", watch.wall_us, watch.cpu_us, used.ru_maxrss) < 0 ||
		fclose(file) != 0)
		return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
