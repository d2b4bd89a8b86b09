/* Compiles a text into a folder of its own, for tests that examine programs of raddle-cc. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct instrumented {
	char folder[64];
	char program[128];
};

/* The folder of the commands: the tests lie there, too. */
static inline void instrumented_commands(char *folder, size_t size)
{
	const ssize_t length = readlink("/proc/self/exe", folder, size - 1);

	folder[length < 0 ? 0 : length] = '\0';
	if (strrchr(folder, '/'))
		*strrchr(folder, '/') = '\0';
}

static inline void instrumented_remove(const struct instrumented *subject)
{
	char command[128];

	(void)snprintf(command, sizeof command, "rm -rf '%s'", subject->folder);
	if (system(command))
		abort();
}

/*
 * `language` is c or cc. Returns false if raddle-cc cannot compile here, because clang 19 is
 * missing. Otherwise the caller removes the folder.
 */
static inline bool instrumented_build(
	struct instrumented *subject, const char *language, const char *source, const char *options)
{
	char commands[512], path[128], command[2048];
	FILE *file;

	instrumented_commands(commands, sizeof commands);
	strcpy(subject->folder, "/tmp/raddle-test.XXXXXX");
	if (!mkdtemp(subject->folder))
		abort();
	(void)snprintf(path, sizeof path, "%s/subject.%s", subject->folder, language);
	(void)snprintf(subject->program, sizeof subject->program, "%s/subject", subject->folder);
	file = fopen(path, "w");
	if (!file || fputs(source, file) < 0 || fclose(file))
		abort();
	(void)snprintf(command, sizeof command,
		"command -v \"${RADDLE_CLANG:-clang-19}\" > /dev/null && cd '%s' && '%s/%s' %s "
		"-pthread subject.%s -o subject",
		subject->folder, commands, strcmp(language, "c") ? "raddle-c++" : "raddle-cc",
		options, language);
	if (!system(command))
		return true;
	instrumented_remove(subject);
	return false;
}
