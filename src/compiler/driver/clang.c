#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/strbuf.h"
#include "compiler/driver/compile.h"

char *compile_find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *found = NULL;

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 ? strdup(name) : NULL;
	for (const char *at = path ? path : "/usr/bin:/bin"; at && !found;) {
		const size_t length = strcspn(at, ":");
		STRBUF_SCOPED candidate = STRBUF_EMPTY;

		strbuf_addf(
			&candidate, "%.*s/%s", length ? (int)length : 1, length ? at : ".", name);
		if (access(candidate.text, X_OK) == 0)
			found = strdup(candidate.text);
		at = at[length] ? at + length + 1 : NULL;
	}
	return found;
}

int compile_ask_version(const char *program, const char *before)
{
	STRBUF_SCOPED command = STRBUF_EMPTY;
	char line[256] = "";
	const char *at;
	FILE *pipe;

	strbuf_adds(&command, "'");
	for (const char *c = program; *c; c++)
		strbuf_addf(&command, *c == '\'' ? "'\\''" : "%c", *c);
	strbuf_adds(&command, "' --version 2> /dev/null");
	pipe = popen(command.text, "r");
	if (!pipe)
		return 0;
	if (!fgets(line, sizeof line, pipe))
		line[0] = '\0';
	(void)pclose(pipe); /* the output alone matters */
	at = strstr(line, before);
	return at ? atoi(at + strlen(before)) : 0;
}

/* Returns whether the compiler's name contains its version, which is trusted, also through links.
 * --version takes as long as compiling a small file, and a build calls raddle-cc thousands of
 * times. */
static bool clang_names_its_version(const char *name)
{
	const char *base = base_name(name);
	FREE_SCOPED char *real = NULL;

	if (strcmp(base, "clang-19") == 0 || strcmp(base, "clang++-19") == 0)
		return true;
	real = realpath(name, NULL);
	return real && strstr(real, "/llvm-19/bin/clang");
}

static int clang_check(char *clang, char **path, struct error *err)
{
	const int version = clang_names_its_version(clang)
				    ? COMPILE_CLANG_VERSION
				    : compile_ask_version(clang, "clang version ");

	if (version == COMPILE_CLANG_VERSION) {
		*path = clang;
		return 0;
	}
	if (version)
		error_set(err, ERROR_MISSING,
			"%s is of version %d, and raddle's pass needs clang %d; install clang-%d, or "
			"name one in RADDLE_CLANG",
			clang, version, COMPILE_CLANG_VERSION, COMPILE_CLANG_VERSION);
	else
		error_set(err, ERROR_MISSING,
			"%s does not say that it is a clang; name clang %d in RADDLE_CLANG", clang,
			COMPILE_CLANG_VERSION);
	free(clang);
	return ERROR_MISSING;
}

int compile_find_clang(char **path, struct error *err)
{
	const char *named = getenv("RADDLE_CLANG");
	char *clang;

	if (named && *named) {
		clang = compile_find_program(named);
		if (!clang)
			return error_set(err, ERROR_MISSING,
				"RADDLE_CLANG names %s, which cannot be run; correct or unset it",
				named);
		return clang_check(clang, path, err);
	}
	clang = compile_find_program("clang-19");
	if (!clang)
		clang = compile_find_program("clang");
	if (!clang)
		return error_set(err, ERROR_MISSING,
			"there is no clang 19; install it (apt-get install clang-19), or name it in "
			"RADDLE_CLANG");
	return clang_check(clang, path, err);
}
