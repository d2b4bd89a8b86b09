/*
 * A command of raddle: one row in commands.def and one file cmd_<name>.c with its options, help and
 * code.
 *
 * main() finds the command by name and calls run(), whose result is the exit status of raddle.
 * Commands and src/cli print and exit; all other folders return errors. Results go to standard
 * output, everything else to standard error.
 *
 * SIGINT and the time limit (command_limit_time()) both set command_interruption(). A command polls
 * it and ends its phases early.
 */
#pragma once

#include <stdint.h>

#include "cli/option.h"
#include "plan/stop.h"

enum exit_status { EXIT_NOTHING_FOUND = 0, EXIT_FAILURE_FOUND = 1, EXIT_CANNOT_WORK = 2 };

struct command {
	const char *name;
	const char *summary;		      /* one line */
	const char *doc;		      /* paragraphs; those behind \v follow the options */
	const char *usage;		      /* operands in the usage line; NULL: none */
	const struct command_option *options; /* NULL: none */
	struct operands operands;
	/* argv[0] is "raddle NAME". Returns the exit status. */
	int (*run)(int argc, char **argv);
};

/* All commands, in the order of commands.def; ends with NULL. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);

#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND

/* Prints "raddle: TEXT" on standard error and returns EXIT_CANNOT_WORK. */
int command_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the flag that SIGINT, SIGTERM and SIGHUP set. A second such signal ends raddle at
 * once. */
const volatile int *command_interruption(void);
/*
 * Limits the run time of the command, in nanoseconds; 0: no limit. The flag of
 * command_interruption(), which must be called first, is set shortly before the limit. Returns the
 * number of nanoseconds until then.
 */
uint64_t command_limit_time(uint64_t time_ns);
enum stop_reason command_stop_reason(void);
