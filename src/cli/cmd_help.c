#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/manual.h"

enum { OPTION_MAN = 256, OPTION_COMPLETION };

static const struct argp_option help_options[] = {
	{"man", OPTION_MAN, NULL, 0,
		"Print the manual page raddle(1), or the one of COMMAND, as its source", 0},
	{"completion", OPTION_COMPLETION, "bash|zsh", 0,
		"Print what lets this shell complete command lines of raddle", 0},
	{0},
};

struct help_arguments {
	const char *command;
	const char *shell; /* NULL if there is no completion requested */
	bool is_manual;
};

static error_t cmd_help_parse_help(int key, char *text, struct argp_state *state)
{
	struct help_arguments *arguments = state->input;

	switch (key) {
	case OPTION_MAN:
		arguments->is_manual = true;
		return 0;
	case OPTION_COMPLETION:
		arguments->shell = text;
		return 0;
	case ARGP_KEY_ARG:
		arguments->command = text;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp help_argp = {
	.options = help_options,
	.parser = cmd_help_parse_help,
	.args_doc = "[COMMAND]",
	.doc = "Explains raddle, or one of its commands.",
};

static int cmd_help_command(const char *name)
{
	const struct command *command = command_find(name);
	char program[64];
	unsigned what = ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK;

	if (!command)
		return command_fail("no command %s; type raddle help", name);
	(void)snprintf(program, sizeof program, "raddle %s", name);
	argp_help(command->argp, stdout, what, program);
	(void)printf("Examples:\n");
	for (const char *line = manual_examples(name); *line; line += strcspn(line, "\n") + 1)
		(void)printf("  %.*s\n", (int)strcspn(line, "\n"), line);
	return 0;
}

static int cmd_help_manual(const char *name)
{
	const struct command *command = name ? command_find(name) : NULL;

	if (name && !command)
		return command_fail("no command %s; type raddle help", name);
	if (command)
		manual_print_command(stdout, command);
	else
		manual_print(stdout);
	return 0;
}

static int cmd_help_run(int argc, char **argv)
{
	struct help_arguments arguments = {0};

	argp_parse(&help_argp, argc, argv, 0, NULL, &arguments);
	if (arguments.is_manual)
		return cmd_help_manual(arguments.command);
	if (arguments.shell) {
		if (completion_print(arguments.shell, stdout) == 0)
			return 0;
		return command_fail("no completion for %s; there is bash and zsh", arguments.shell);
	}
	if (arguments.command)
		return cmd_help_command(arguments.command);
	(void)puts("raddle finds, replays, minimises and explains concurrency bugs.\n");
	for (const struct command *const *command = commands; *command; command++)
		(void)printf("  raddle %-8s %s\n", (*command)->name, (*command)->summary);
	(void)puts("\nBegin with: raddle run -- PROGRAM [ARG...]\n"
		   "Options of a command: raddle help COMMAND");
	return 0;
}

const struct command command_help = {
	.name = "help",
	.summary = "explain raddle, or one command",
	.argp = &help_argp,
	.run = cmd_help_run,
};
