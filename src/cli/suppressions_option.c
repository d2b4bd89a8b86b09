#include "cli/suppressions_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/files/text_file.h"

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

int suppressions_option_read(const char *path, struct suppressions *out, struct error *err)
{
	char *from_environment = path ? NULL : suppressions_option_find(getenv("TSAN_OPTIONS"));
	STRBUF_SCOPED text = STRBUF_EMPTY;
	int result;

	*out = (struct suppressions){0};
	if (!path)
		path = from_environment;
	if (!path || !*path) {
		free(from_environment);
		return 0;
	}
	result = text_file_read(fopen(path, "re"), "the suppressions", path, &text, err);
	if (result == 0)
		result = suppressions_parse(out, text.text, text.length, path, err);
	free(from_environment);
	return result;
}
