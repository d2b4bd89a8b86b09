#include "compiler/driver/tsan_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/installed.h"
#include "base/strbuf.h"

static void add_flags(struct arguments *command, const struct arguments_kind *kind)
{
	arguments_add(command, "-fsanitize=thread");
	arguments_add(command, "-fno-omit-frame-pointer");
	if (!kind->names_debug)
		arguments_add(command, "-g");
}

static int tsan_link_add_library(struct arguments *command, struct error *err)
{
	struct strbuf folder;
	char *library;
	int result = installed_find("libraddle-tsan.so", &library, err);

	if (result < 0)
		return result;
	strbuf_init(&folder);
	strbuf_addf(&folder, "-Wl,-rpath,%.*s", (int)(strrchr(library, '/') - library), library);
	arguments_add(command, library);
	arguments_add(command, folder.text);
	strbuf_release(&folder);
	free(library);
	return 0;
}

static int tsan_link_run(char **argv, struct error *err)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)execvp(argv[0], argv);
		(void)fprintf(stderr, "raddle: %s cannot be run (%s); is it installed?\n", argv[0],
			strerror(errno));
		_exit(127);
	}
	if (pid < 0)
		return error_set(err, ERROR_IO, "no new process (%s); end others", strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (status == 0)
		return 0;
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Creates an empty temporary object, which link_and_clean() removes. The caller frees the name. */
static char *temporary_object(struct error *err)
{
	const char *folder = getenv("TMPDIR");
	struct strbuf path;
	char *name;
	int file;

	strbuf_init(&path);
	strbuf_addf(&path, "%s/raddle-XXXXXX.o", folder && *folder ? folder : "/tmp");
	name = string_copy(path.text);
	strbuf_release(&path);
	file = mkstemps(name, 2);
	if (file >= 0 && close(file) == 0)
		return name;
	error_set(err, ERROR_IO, "no temporary file in TMPDIR (%s); make room there",
		strerror(errno));
	free(name);
	return NULL;
}

/* Compiles one source of a command that also links: with all options except those of the link and
 * the output. */
static int compile_source(const char *compiler, char *const *argv, const char *source,
	const struct arguments_kind *kind, const char *object, struct error *err)
{
	struct arguments command = {0};
	int result;

	arguments_add(&command, compiler);
	add_flags(&command, kind);
	for (; *argv; argv++) {
		const bool takes_next = **argv == '-' && arguments_takes_next(*argv) && argv[1];

		if (strcmp(*argv, "-o") == 0) {
			argv += takes_next;
			continue;
		}
		if (**argv != '-' || strcmp(*argv, "-shared") == 0)
			continue;
		arguments_add(&command, *argv);
		if (takes_next)
			arguments_add(&command, *++argv);
	}
	arguments_add(&command, "-c");
	arguments_add(&command, source);
	arguments_add(&command, "-o");
	arguments_add(&command, object);
	result = tsan_link_run(command.items, err);
	arguments_release(&command);
	return result;
}

/* Links in a child process and exits, so that the temporary objects can be removed before the exit. */
static int link_and_clean(
	struct arguments *command, const struct arguments *objects, struct error *err)
{
	int result = tsan_link_add_library(command, err);

	if (result == 0)
		result = tsan_link_run(command->items, err);
	for (size_t i = 0; i < objects->count; i++)
		(void)unlink(objects->items[i]); /* a file that cannot be removed does no harm */
	if (result == 0)
		exit(0);
	return result;
}

static int compile_and_link(const char *compiler, char *const *argv,
	const struct arguments_kind *kind, struct arguments *command, struct error *err)
{
	struct arguments objects = {0};
	int result = 0;

	arguments_add(command, compiler);
	for (char *const *at = argv; *at && result == 0; at++) {
		char *object;

		if (**at == '-' || !arguments_is_source(*at)) {
			arguments_add(command, *at);
			if (**at == '-' && arguments_takes_next(*at) && at[1])
				arguments_add(command, *++at);
			continue;
		}
		object = temporary_object(err);
		if (!object) {
			result = ERROR_IO;
			break;
		}
		arguments_add(&objects, object);
		arguments_add(command, object);
		result = compile_source(compiler, argv, *at, kind, object, err);
		free(object);
	}
	if (result == 0)
		result = link_and_clean(command, &objects, err);
	arguments_release(&objects);
	return result;
}

int tsan_command(
	const char *compiler, char *const *argv, struct arguments *command, struct error *err)
{
	const struct arguments_kind kind = arguments_classify(argv);

	if (kind.compiles && kind.links && kind.has_inputs)
		return compile_and_link(compiler, argv, &kind, command, err);
	arguments_add(command, compiler);
	if (kind.compiles)
		add_flags(command, &kind);
	for (; *argv; argv++)
		arguments_add(command, *argv);
	return kind.links && kind.has_inputs ? tsan_link_add_library(command, err) : 0;
}
