#include "commands/test/suite/test_framework.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "commands/test/suite/test_list.h"

const struct test_framework test_frameworks[] = {
#define FRAMEWORK(word, ...) {.name = #word, __VA_ARGS__},
#include "commands/test/suite/frameworks.def"
#undef FRAMEWORK
};
const unsigned test_framework_count = sizeof test_frameworks / sizeof *test_frameworks;

static bool test_framework_is_in(
	const struct test_framework *framework, const void *bytes, size_t size)
{
	for (unsigned i = 0; i < sizeof framework->marks / sizeof *framework->marks; i++)
		if (framework->marks[i] &&
			memmem(bytes, size, framework->marks[i], strlen(framework->marks[i])))
			return true;
	return false;
}

const struct test_framework *test_framework_detect(const char *path)
{
	const struct test_framework *found = NULL;
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	void *bytes = MAP_FAILED;
	struct stat status;

	if (file < 0)
		return NULL;
	if (fstat(file, &status) == 0 && status.st_size > 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	(void)close(file); /* the file was opened for reading */
	if (bytes == MAP_FAILED)
		return NULL;
	for (unsigned i = 0; i < test_framework_count && !found; i++)
		if (test_framework_is_in(&test_frameworks[i], bytes, (size_t)status.st_size))
			found = &test_frameworks[i];
	(void)munmap(bytes, (size_t)status.st_size); /* mapped above: cannot fail */
	return found;
}

const struct test_framework *test_framework_find(const char *name)
{
	for (unsigned i = 0; i < test_framework_count; i++)
		if (!strcmp(test_frameworks[i].name, name))
			return &test_frameworks[i];
	return NULL;
}

static void test_framework_add_name(struct strbuf *out, const char *name, const char *escaped)
{
	for (; *name; name++) {
		if (escaped && strchr(escaped, *name))
			strbuf_adds(out, "\\");
		strbuf_add(out, name, 1);
	}
}

static char *test_framework_expand_word(
	const char *word, size_t length, const struct test_case *test, const char *escaped)
{
	const struct {
		const char *text, *value;
	} locations[] = {{"{}", test->name}, {"{group}", test->group}, {"{own}", test->own}};
	struct strbuf out = STRBUF_EMPTY;

	for (size_t at = 0; at < length;) {
		bool is_environment = false;

		for (size_t i = 0; i < sizeof locations / sizeof *locations && !is_environment;
			i++) {
			const size_t size = strlen(locations[i].text);

			is_environment =
				size <= length - at && !memcmp(word + at, locations[i].text, size);
			if (is_environment) {
				test_framework_add_name(&out, locations[i].value, escaped);
				at += size;
			}
		}
		if (!is_environment)
			strbuf_add(&out, word + at++, 1);
	}
	return strbuf_detach(&out);
}

char **test_framework_expand(
	char **words, const char *template, const struct test_case *test, const char *escaped)
{
	size_t count = 0;

	while (words && words[count])
		count++;
	if (!template)
		template = "";
	for (;;) {
		size_t length;

		template += strspn(template, " ");
		words = array_resize(words, count + 2, sizeof *words);
		words[count] = NULL;
		length = strcspn(template, " ");
		if (!length)
			return words;
		words[count++] = test_framework_expand_word(template, length, test, escaped);
		words[count] = NULL;
		template += length;
	}
}
