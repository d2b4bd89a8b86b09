/*
 * A command of raddle: one row in commands.def, one file cmd_<name>.c that holds its options, its
 * help and its code. Only this folder prints and exits. Results go to standard output, everything
 * else to standard error.
 */
#ifndef RADDLE_CLI_COMMAND_H
#define RADDLE_CLI_COMMAND_H

#include <argp.h>
#include <stdint.h>

#include "plan/stop.h"

/* How a command ends. */
enum exit_status { EXIT_NOTHING_FOUND = 0, EXIT_FAILURE_FOUND = 1, EXIT_CANNOT_WORK = 2 };

struct command {
	const char *name;
	const char *summary; /* one line */
	const struct argp *argp;
	/* argv[0] is "raddle NAME". Returns the exit status. */
	int (*run)(int argc, char **argv);
};

/* All of them, in the order of commands.def, ended by NULL. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);

#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND

/* Says "raddle: TEXT" on standard error and returns EXIT_CANNOT_WORK. */
int command_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Set by SIGINT, SIGTERM and SIGHUP; a second one of them ends raddle at once. */
const volatile int *command_interruption(void);
/*
 * Near the end of this time the command is interrupted as by the user. So the time budget holds in every phase that
 * ends at an interruption. 0: no limit. To be called after command_interruption(). Returns how long from now the
 * interruption comes.
 */
uint64_t command_limit_time(uint64_t time_ns);
enum stop_reason command_stop_reason(void);

#endif
