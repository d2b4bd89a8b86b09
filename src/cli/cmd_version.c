#include <stdio.h>

#include "cli/command.h"

static const struct argp version_argp = {.doc = "Prints the version of raddle."};

static int cmd_version_run(int argc, char **argv)
{
	argp_parse(&version_argp, argc, argv, 0, NULL, NULL);
	(void)printf("raddle %s\n", RADDLE_RELEASE); /* main checks the stream */
	return 0;
}

const struct command command_version = {
	.name = "version",
	.summary = "print the version",
	.argp = &version_argp,
	.run = cmd_version_run,
};
