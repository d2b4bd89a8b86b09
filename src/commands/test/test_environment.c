#include "commands/test/test_environment.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/strbuf.h"

/* Sets NAME=VALUE, or removes NAME. */
static void test_environment_assign(const char *entry)
{
	const char *value = strchr(entry, '=');
	FREE_SCOPED char *name =
		string_copy_part(entry, value ? (size_t)(value - entry) : strlen(entry));

	if (value)
		(void)setenv(name, value + 1, 1); /* fails only without memory */
	else
		(void)unsetenv(name);
}

static char *test_environment_read(const char *entry)
{
	struct strbuf before = STRBUF_EMPTY;
	const char *value;

	strbuf_add(&before, entry, strcspn(entry, "="));
	value = getenv(before.text);
	if (value)
		strbuf_addf(&before, "=%s", value);
	return strbuf_detach(&before);
}

bool test_environment_enter(struct test_environment *environment, const struct test_case *test)
{
	size_t count = 0;

	*environment = (struct test_environment){.folder = -1};
	for (char **entry = test->environment; *entry; entry++) {
		ARRAY_APPEND(environment->before, count, test_environment_read(*entry));
		test_environment_assign(*entry);
	}
	ARRAY_APPEND(environment->before, count, NULL);
	if (!test->directory)
		return true;
	environment->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return environment->folder >= 0 && chdir(test->directory) == 0;
}

void test_environment_leave(struct test_environment *environment)
{
	for (char **entry = environment->before; *entry; entry++)
		test_environment_assign(*entry);
	strings_free(environment->before);
	if (environment->folder < 0)
		return;
	BUG_ON(fchdir(environment->folder) != 0);
	(void)close(environment->folder);
}
