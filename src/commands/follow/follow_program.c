#include "commands/follow/follow_program.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/shell_words.h"
#include "base/starts_with.h"
#include "base/strbuf.h"

bool follow_program_read_file(pid_t pid, const char *name, struct strbuf *out)
{
	char path[64], bytes[4096];
	ssize_t count;
	int file;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name); /* fits */
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	while ((count = read(file, bytes, sizeof bytes)) > 0)
		strbuf_add(out, bytes, (size_t)count);
	(void)close(file); /* the file was opened for reading */
	return count == 0;
}

static char *follow_program_read_link(pid_t pid, const char *name)
{
	char path[64], text[PATH_MAX];
	ssize_t count;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name); /* fits */
	count = readlink(path, text, sizeof text - 1);
	return count < 0 ? NULL : strndup(text, (size_t)count);
}

static char **follow_program_split(const struct strbuf *strings)
{
	size_t count = 0;
	char **list;

	for (size_t i = 0; i < strings->length; i++)
		count += strings->text[i] == '\0';
	list = array_new(count + 2, sizeof *list);
	count = 0;
	for (size_t at = 0; at < strings->length; at += strlen(strings->text + at) + 1)
		list[count++] = string_copy(strings->text + at);
	return list;
}

static char **follow_program_read_list(pid_t pid, const char *name)
{
	STRBUF_SCOPED strings = STRBUF_EMPTY;
	char **list = NULL;

	if (follow_program_read_file(pid, name, &strings))
		list = follow_program_split(&strings);
	return list;
}

/* Keeps argv[0] where it names the file (absolute, or below the folder); else the file's path. */
static void follow_program_resolve_name(struct follow_program *program)
{
	STRBUF_SCOPED path = STRBUF_EMPTY;
	struct stat named, file;

	if (program->argv[0] && program->argv[0][0] != '/')
		strbuf_addf(&path, "%s/", program->directory);
	strbuf_adds(&path, program->argv[0] ? program->argv[0] : "");
	if (!program->argv[0] || !strchr(program->argv[0], '/') || stat(path.text, &named) != 0 ||
		stat(program->path, &file) != 0 || named.st_ino != file.st_ino ||
		named.st_dev != file.st_dev) {
		free(program->argv[0]);
		program->argv[0] = string_copy(program->path);
	}
}

static void follow_program_read_input(pid_t pid, struct follow_program *program)
{
	char *path = follow_program_read_link(pid, "fd/0");
	struct stat file;

	if (path && stat(path, &file) == 0 && S_ISREG(file.st_mode))
		program->input = path;
	else
		free(path);
}

/* Returns whether the file has set-user-id rights, which have no effect in a traced process unless
 * the tracer is privileged. */
static bool follow_program_has_rights_to_lose(const char *path)
{
	struct stat file;

	return geteuid() != 0 && stat(path, &file) == 0 && (file.st_mode & (S_ISUID | S_ISGID));
}

static void follow_program_release(struct followed_program *followed)
{
	struct follow_program *program = &followed->program;

	strings_free(program->argv);
	strings_free(program->environment);
	free(program->path);
	free(program->directory);
	free(program->input);
	free(followed);
}

struct followed_program *followed_program_read(pid_t pid)
{
	struct followed_program *followed = array_new(1, sizeof *followed);
	struct follow_program *program = &followed->program;

	followed->users = 1;
	program->path = follow_program_read_link(pid, "exe");
	program->directory = follow_program_read_link(pid, "cwd");
	program->argv = follow_program_read_list(pid, "cmdline");
	program->environment = follow_program_read_list(pid, "environ");
	if (!program->path || !program->directory || !program->argv || !program->environment) {
		follow_program_release(followed);
		return NULL;
	}
	follow_program_resolve_name(program);
	follow_program_read_input(pid, program);
	followed->has_lost_rights = follow_program_has_rights_to_lose(program->path);
	return followed;
}

void followed_program_leave(struct followed_program *program)
{
	if (program && --program->users == 0)
		follow_program_release(program);
}

pid_t followed_task_process(pid_t task)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;
	const char *line = NULL;
	int process = 0;

	if (follow_program_read_file(task, "status", &text))
		line = strstr(text.text, "\nTgid:");
	if (line && sscanf(line, "\nTgid: %d", &process) != 1)
		process = 0;
	return process;
}

bool follow_program_is_of_system(const char *path)
{
	static const char *const folders[] = {"/usr/", "/bin/", "/sbin/", "/lib"};
	static const char *const own[] = {"/usr/local/", "/usr/src/"};

	return STARTS_WITH_ANY(path, folders) && !STARTS_WITH_ANY(path, own);
}

const char *follow_program_expected(int wait_status)
{
	/* signals by which another process ends a program, such as a test that reached its time limit */
	static const int foreign[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP};

	if (wait_status == 0)
		return NULL;
	if (!WIFSIGNALED(wait_status))
		return "exit";
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
		if (WTERMSIG(wait_status) == foreign[i])
			return NULL;
	return WTERMSIG(wait_status) == SIGABRT ? "abort" : "crash";
}

char *follow_program_key(const struct follow_program *program)
{
	struct strbuf key = STRBUF_EMPTY;

	strbuf_addf(&key, "%s\n%s\n", program->path, program->directory);
	shell_words_add(&key, program->argv);
	return strbuf_detach(&key);
}
