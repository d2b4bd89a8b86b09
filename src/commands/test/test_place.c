#include "commands/test/test_place.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/strbuf.h"

/* Sets NAME=VALUE, or removes NAME. */
static void test_place_assign(const char *entry)
{
	const char *value = strchr(entry, '=');
	FREE_SCOPED char *name =
		string_copy_part(entry, value ? (size_t)(value - entry) : strlen(entry));

	if (value)
		(void)setenv(name, value + 1, 1); /* fails only without memory */
	else
		(void)unsetenv(name);
}

static char *test_place_read(const char *entry)
{
	struct strbuf before = STRBUF_EMPTY;
	const char *value;

	strbuf_add(&before, entry, strcspn(entry, "="));
	value = getenv(before.text);
	if (value)
		strbuf_addf(&before, "=%s", value);
	return strbuf_detach(&before);
}

bool test_place_enter(struct test_place *place, const struct test_case *test)
{
	size_t count = 0;

	*place = (struct test_place){.folder = -1};
	for (char **entry = test->environment; *entry; entry++) {
		ARRAY_APPEND(place->before, count, test_place_read(*entry));
		test_place_assign(*entry);
	}
	ARRAY_APPEND(place->before, count, NULL);
	if (!test->directory)
		return true;
	place->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return place->folder >= 0 && chdir(test->directory) == 0;
}

void test_place_leave(struct test_place *place)
{
	for (char **entry = place->before; *entry; entry++)
		test_place_assign(*entry);
	strings_free(place->before);
	if (place->folder < 0)
		return;
	BUG_ON(fchdir(place->folder) != 0);
	(void)close(place->folder);
}
