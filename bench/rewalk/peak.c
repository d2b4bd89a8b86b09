/* peak COMMAND...: runs the command; then prints the most memory that it or a child of it had, in kilobytes, and
 * how long it took, in milliseconds. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/stopwatch.h"

int main(int argc, char **argv)
{
	struct stopwatch watch;
	struct rusage usage;
	int status = 0;
	pid_t child;

	if (argc < 2)
		return 2;
	stopwatch_start(&watch);
	child = fork();
	if (child == 0) {
		if (freopen("/dev/null", "w", stdout))
			(void)execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return 127;
	stopwatch_stop(&watch);
	printf("%ld %.0f\n", usage.ru_maxrss, watch.wall_us / 1000);
	return WIFEXITED(status) && WEXITSTATUS(status) < 2 ? 0 : 1;
}
