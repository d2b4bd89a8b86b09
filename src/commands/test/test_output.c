#include "commands/test/test_output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"

/* A program that does not know the option may run all its tests. */
#define LIST_SECONDS 60
/* Bytes of a list: a million long names. */
#define LIST_BYTES (UINT64_C(256) << 20)

int test_output_of_file(int file, char **text, struct error *err)
{
	const off_t size = lseek(file, 0, SEEK_END);
	int status = 0;

	*text = NULL;
	if (size < 0 || (uint64_t)size > LIST_BYTES) {
		(void)close(file); /* the file was only read */
		return error_set(err, ERROR_FORMAT,
			"the list of test cases is no file, or longer than 256 MB; give a shorter one by --list FILE");
	}
	*text = array_new((size_t)size + 1, 1);
	if (size && pread(file, *text, (size_t)size, 0) != size)
		status = error_set(err, ERROR_IO, "the list of test cases cannot be read (%s)",
			strerror(errno));
	(void)close(file); /* the file was only read */
	return status;
}

static void test_output_become(char *const *argv, char *const *environment, int output)
{
	const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);

	for (; environment && *environment; environment++)
		(void)putenv(*environment); /* without memory the program lists less */
	(void)alarm(LIST_SECONDS);
	if (input >= 0 && dup2(input, 0) >= 0 && dup2(output, 1) >= 0 && dup2(output, 2) >= 0)
		(void)execvp(argv[0], argv);
	_exit(127);
}

int test_output_of_program(
	char *const *argv, char *const *environment, char **text, struct error *err)
{
	const int output = memfd_create("raddle-list", MFD_CLOEXEC);
	pid_t child = output < 0 ? -1 : fork();
	int status = 0;

	*text = NULL;
	if (child == 0)
		test_output_become(argv, environment, output);
	if (child < 0) {
		status = errno;
		if (output >= 0)
			(void)close(output); /* the file lies in memory only */
		return error_set(
			err, ERROR_IO, "%s cannot be started (%s)", argv[0], strerror(status));
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
		(void)close(output); /* the file lies in memory only */
		return error_set(err, ERROR_TARGET,
			WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
				? "%s did not list its test cases within 60 s; give their names by --list FILE"
				: "%s cannot list its test cases; run it by hand, or give their names by --list FILE",
			argv[0]);
	}
	return test_output_of_file(output, text, err);
}
