#include <stdio.h>

#include "cli/command.h"

static int cmd_version_run(int argc, char **argv)
{
	options_parse(&command_version, argc, argv, NULL);
	(void)printf("raddle %s\n", RADDLE_RELEASE); /* main checks the stream */
	return 0;
}

const struct command command_version = {
	.name = "version",
	.summary = "print the version",
	.doc = "Prints the version of raddle.",
	.run = cmd_version_run,
};
