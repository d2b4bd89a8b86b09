#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "commands/help/completion.h"
#include "commands/help/manual.h"

struct help_arguments {
	const char *command;
	const char *shell; /* NULL if there is no completion requested */
	bool is_manual;
};

static const struct command_option help_options[] = {
	{"man", 0, NULL, "Print the manual page raddle(1), or the one of COMMAND, as its source",
		OPTION_OF(FLAG, help_arguments, is_manual)},
	{"completion", 0, "bash|zsh", "Print what lets this shell complete command lines of raddle",
		OPTION_OF(TEXT, help_arguments, shell)},
	{0},
};

static int cmd_help_command(const char *name)
{
	const struct command *command = command_find(name);

	if (!command)
		return command_fail("no command %s; type raddle help", name);
	options_print_help(command, stdout);
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

	options_parse(&command_help, argc, argv, &arguments);
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
	.doc = "Explains raddle, or one of its commands.",
	.usage = "[COMMAND]",
	.options = help_options,
	.operands = {OPERANDS_WORD, offsetof(struct help_arguments, command), NULL},
	.run = cmd_help_run,
};
