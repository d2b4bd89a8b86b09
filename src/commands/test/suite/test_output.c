#include "commands/test/suite/test_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/text_file.h"
#include "platform/platform.h"
#include "process/children.h"

/* A program that does not know the option may run all its tests. */
#define LIST_NS UINT64_C(60000000000)
#define NAP_US 1000
/* A write beyond it kills the program: more than text_file_read() accepts. */
#define OUTPUT_BYTES (UINT64_C(512) << 20)

static void test_output_become(char *const *argv, char *const *environment, int input, int output)
{
	const struct rlimit limit = {.rlim_cur = OUTPUT_BYTES, .rlim_max = OUTPUT_BYTES};

	for (; environment && *environment; environment++)
		(void)putenv(*environment);    /* without memory the program lists less */
	(void)setrlimit(RLIMIT_FSIZE, &limit); /* fails if a lower limit holds */
	if (dup2(input, 0) >= 0 && dup2(output, 1) >= 0 && dup2(output, 2) >= 0)
		(void)execvp(argv[0], argv);
	_exit(127);
}

/* Returns false if the program has not ended in its time. The program itself may use alarm(). */
static bool test_output_wait(pid_t child, int *status)
{
	const uint64_t until_ns = platform_monotonic_ns() + LIST_NS;

	while (waitpid(child, status, WNOHANG) == 0) {
		if (platform_monotonic_ns() >= until_ns)
			return false;
		(void)usleep(NAP_US); /* a shorter sleep does no harm */
	}
	return true;
}

int test_output_of_program(
	char *const *argv, char *const *environment, struct strbuf *out, struct error *err)
{
	const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int output, status = 0;
	bool has_ended;
	pid_t child;

	if (input < 0)
		return error_set(err, ERROR_IO, "/dev/null cannot be opened (%s); mount /dev",
			strerror(errno));
	children_init();
	output = memfd_create("raddle-list", MFD_CLOEXEC);
	child = output < 0 ? -1 : fork();
	if (child == 0)
		test_output_become(argv, environment, input, output);
	status = errno;
	(void)close(input); /* nothing was written */
	if (child < 0) {
		if (output >= 0)
			(void)close(output); /* the file lies in memory only */
		return error_set(
			err, ERROR_IO, "%s cannot be started (%s)", argv[0], strerror(status));
	}
	has_ended = test_output_wait(child, &status);
	children_kill_strays();
	if (!has_ended || WIFSIGNALED(status) ||
		(WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
		(void)close(output); /* the file lies in memory only */
		return error_set(err, ERROR_TARGET,
			has_ended
				? "%s cannot list its test cases; run it by hand, or give their names by --list FILE"
				: "%s did not list its test cases within 60 s; give their names by --list FILE",
			argv[0]);
	}
	(void)lseek(output, 0, SEEK_SET); /* a file in memory: cannot fail */
	return text_file_read(fdopen(output, "r"), "the output of", argv[0], out, err);
}
