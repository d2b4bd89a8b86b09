#include "commands/follow/follow_script.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/strbuf.h"

extern char **environ;

struct script_search {
	struct follow_script *script;
	const char *name;
};

static bool follow_script_is_in(char *const *list, const char *entry)
{
	for (size_t i = 0; list[i]; i++)
		if (!strcmp(list[i], entry))
			return true;
	return false;
}

char **follow_new_variables(const struct follow_program *program)
{
	static const char *const always[] = {"PWD=", "OLDPWD=", "SHLVL=", "_=", "ASAN_OPTIONS="};
	char **list = NULL;
	size_t count = 0;

	for (size_t i = 0; program->environment[i]; i++) {
		char *const entry = program->environment[i];
		bool is_new = strchr(entry, '=') && !follow_script_is_in(environ, entry);

		for (size_t j = 0; j < sizeof always / sizeof *always; j++)
			is_new &= strncmp(entry, always[j], strlen(always[j])) != 0;
		if (is_new)
			ARRAY_APPEND(list, count, entry);
	}
	ARRAY_APPEND(list, count, NULL);
	return list;
}

bool follow_script_is_interpreter(const struct follow_process *process, const char *script)
{
	return process->is_given ||
	       (process->is_first && follow_script_is_in(process->program->argv, script));
}

static bool follow_script_on_executed(void *context, const struct follow_process *process)
{
	const struct script_search *search = context;
	struct follow_script *script = search->script;
	FREE_SCOPED char **variables = NULL;

	if (!process->is_first || follow_script_is_interpreter(process, search->name))
		return false;
	variables = follow_new_variables(process->program);
	script->argv = strings_copy(process->program->argv);
	script->environment = strings_copy(variables);
	return true;
}

int follow_script_find(struct follow_script *script, char *const *argv,
	const volatile int *is_interrupted, struct error *err)
{
	struct script_search search = {.script = script, .name = argv[0]};
	const struct follow_request request = {.argv = argv,
		.output = memfd_create("raddle-output", MFD_CLOEXEC),
		.listener = {.context = &search, .executed = follow_script_on_executed},
		.is_interrupted = is_interrupted};
	struct follow_result result;
	int status;

	*script = (struct follow_script){0};
	status = follow_run(&request, &result, err);
	if (request.output >= 0)
		(void)close(request.output); /* the file lies in memory only */
	if (status == 0 && !script->argv)
		return error_set(err, ERROR_TARGET,
			"%s is a script that becomes no program by exec; to explore the programs that it starts: raddle run -- %s",
			argv[0], argv[0]);
	return status;
}

void follow_script_release(struct follow_script *script)
{
	strings_free(script->argv);
	strings_free(script->environment);
}
