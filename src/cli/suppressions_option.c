#include "cli/suppressions_option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

/* Larger files are rejected. */
#define FILE_BYTES_MAX (16u << 20)

char *suppressions_option_find(const char *list)
{
	static const char name[] = "suppressions=";
	static const char ends[] = " ,:\n\t\r";

	while (list && *list) {
		const char *value;
		size_t length;

		list += strspn(list, ends);
		length = strcspn(list, ends);
		value = list + sizeof name - 1;
		if (length >= sizeof name - 1 && !memcmp(list, name, sizeof name - 1)) {
			char quote = *value;

			/* A quoted value may contain the characters that end others. */
			if ((quote == '"' || quote == '\'') && strchr(value + 1, quote))
				return strndup(
					value + 1, (size_t)(strchr(value + 1, quote) - value - 1));
			return strndup(value, length - (sizeof name - 1));
		}
		list += length;
	}
	return NULL;
}

static int suppressions_option_read_file(const char *path, struct strbuf *out, struct error *err)
{
	FILE *file = fopen(path, "re");
	char buffer[4096];
	size_t got;
	int result = 0;

	if (!file)
		return error_set(err, ERROR_NOTFOUND,
			"the suppressions %s cannot be opened (%s); check the path", path,
			strerror(errno));
	while (result == 0 && (got = fread(buffer, 1, sizeof buffer, file)) > 0) {
		strbuf_add(out, buffer, got);
		if (out->length > FILE_BYTES_MAX)
			result = error_set(err, ERROR_USAGE,
				"the suppressions %s are longer than %u MB; is it the right file?",
				path, FILE_BYTES_MAX >> 20);
	}
	if (result == 0 && ferror(file))
		result = error_set(err, ERROR_IO, "the suppressions %s cannot be read (%s)", path,
			strerror(errno));
	(void)fclose(file); /* the file was opened for reading */
	return result;
}

int suppressions_option_read(const char *path, struct suppressions *out, struct error *err)
{
	char *from_environment = path ? NULL : suppressions_option_find(getenv("TSAN_OPTIONS"));
	struct strbuf text;
	int result;

	*out = (struct suppressions){0};
	if (!path)
		path = from_environment;
	if (!path || !*path) {
		free(from_environment);
		return 0;
	}
	strbuf_init(&text);
	result = suppressions_option_read_file(path, &text, err);
	if (result == 0)
		result = suppressions_parse(out, text.text, text.length, path, err);
	strbuf_release(&text);
	free(from_environment);
	return result;
}
