/* The command `raddle`: finds the requested command and runs it. */
#include <argp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/files/base_name.h"
#include "base/files/inherited.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "cli/command.h"
#include "cli/output.h"

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
	NULL,
};

void bug_report(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr,
		"raddle: internal error: %s at %s:%d; please report it with the command line\n",
		condition, file, line);
	abort();
}

/* A stop_reason. Only the signal handler writes it, because a handler has no argument. */
static volatile int is_interrupted;

static void main_interrupt(int number)
{
	if (number != SIGALRM)
		is_interrupted = STOP_USER;
	else if (!is_interrupted)
		is_interrupted = STOP_TIME;
}

const volatile int *command_interruption(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	/* A second signal has the default action and ends raddle at once. */
	struct sigaction action = {.sa_handler = main_interrupt, .sa_flags = SA_RESETHAND};

	(void)sigemptyset(&action.sa_mask); /* cannot fail */
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct sigaction old;

		/* Signals that the parent ignores (nohup) stay ignored. */
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			(void)sigaction(numbers[i], &action, NULL); /* valid: cannot fail */
	}
	return &is_interrupted;
}

/* Fraction of the time limit that is reserved for ending processes and for reporting, which take up
 * to 0.2 s. */
#define END_PART 20
#define END_LEAST_NS UINT64_C(200000000)
#define END_MOST_NS UINT64_C(1000000000)
#define END_MOST_PART 5

static uint64_t main_end_time_ns(uint64_t time_ns)
{
	uint64_t end_ns = time_ns / END_PART;

	if (end_ns < END_LEAST_NS)
		end_ns = END_LEAST_NS < time_ns / END_MOST_PART ? END_LEAST_NS
								: time_ns / END_MOST_PART;
	return end_ns < END_MOST_NS ? end_ns : END_MOST_NS;
}

uint64_t command_limit_time(uint64_t time_ns)
{
	const uint64_t until_ns = time_ns - main_end_time_ns(time_ns);
	const struct itimerval timer = {
		.it_value = {.tv_sec = (time_t)(until_ns / 1000000000u),
			.tv_usec = (suseconds_t)(until_ns % 1000000000u / 1000u + 1)}};
	struct sigaction action = {.sa_handler = main_interrupt};

	if (!time_ns)
		return 0;
	(void)sigemptyset(&action.sa_mask); /* neither of these can fail */
	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &timer, NULL); /* children do not inherit this timer */
	return until_ns;
}

enum stop_reason command_stop_reason(void)
{
	return (enum stop_reason)is_interrupted;
}

int command_fail(const char *format, ...)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;
	va_list args;

	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	(void)fflush(stdout); /* its own failure is reported at exit */
	(void)fprintf(stderr, "raddle: %s\n", text.text);
	return EXIT_CANNOT_WORK;
}

const struct command *command_find(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (strcmp((*command)->name, name) == 0)
			return *command;
	return NULL;
}

/* Fails if output was lost, for example on a full disk: lost output must not be reported as
 * success. */
static int main_finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	return command_fail("standard output cannot be written; is the disk full?");
}

/* Returns the compiler command if raddle was called by a compiler's name. All arguments then belong
 * to the compiler. */
static const struct command *main_compiler_named(const char *program)
{
	const char *base = base_name(program);

	if (strcmp(base, "raddle-cc") == 0)
		return &command_cc;
	return strcmp(base, "raddle-c++") == 0 ? &command_cxx : NULL;
}

static int main_dispatch(int argc, char **argv)
{
	const struct command *command;
	STRBUF_SCOPED name = STRBUF_EMPTY;

	if (argc < 2)
		return command_fail("no command given; type raddle help");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return command_help.run(1, argv + 1);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return command_version.run(1, argv + 1);
	command = command_find(argv[1]);
	if (!command)
		return command_fail(
			"no command %s; type raddle help, or raddle run -- PROGRAM", argv[1]);
	strbuf_addf(&name, "raddle %s", command->name);
	argv[1] = name.text;
	return command->run(argc - 1, argv + 1);
}

/* Opens standard files that the parent closed, for reading only: others would get their numbers. */
static void main_open_standard_files(void)
{
	for (int file = 0; file <= 2; file++)
		if (fcntl(file, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != file)
			_exit(EXIT_CANNOT_WORK); /* no stream is left for a report */
}

static void main_pass_over(int number)
{
	(void)number; /* the call that exceeds the limit fails */
}

/* A file beyond `ulimit -f` then is an error with a message. A handler, unlike SIG_IGN, does not reach
 * the programs that raddle executes. */
static void main_outlive_file_limit(void)
{
	const struct sigaction action = {.sa_handler = main_pass_over, .sa_flags = SA_RESTART};
	struct sigaction old;

	if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		(void)sigaction(SIGXFSZ, &action, NULL); /* valid: cannot fail */
}

int main(int argc, char **argv)
{
	main_open_standard_files();
	inherited_note();
	main_outlive_file_limit();
	output_install();
	argp_err_exit_status = EXIT_CANNOT_WORK;
	if (argc > 0 && main_compiler_named(argv[0]))
		return main_finish(main_compiler_named(argv[0])->run(argc, argv));
	return main_finish(main_dispatch(argc, argv));
}
