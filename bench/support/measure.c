/*
 * measure FILE COMMAND...: runs the command and writes to FILE how long it took and how much processor
 * time it used with all children it waited for, in microseconds, and what memory the largest of these processes
 * had at most, in kB. Processor time is the better number on
 * a machine that does other work too.
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
