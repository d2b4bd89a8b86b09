#include "cli/shell_words.h"

#include <string.h>

#define PLAIN                                                                                      \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"                           \
	"-_./=,:+@%"

void shell_words_add(struct strbuf *out, char *const *words)
{
	for (size_t i = 0; words[i]; i++) {
		if (i)
			strbuf_adds(out, " ");
		if (*words[i] && strspn(words[i], PLAIN) == strlen(words[i])) {
			strbuf_adds(out, words[i]);
			continue;
		}
		strbuf_adds(out, "'");
		for (const char *c = words[i]; *c; c++) {
			if (*c == '\'')
				strbuf_adds(out, "'\\''");
			else
				strbuf_add(out, c, 1);
		}
		strbuf_adds(out, "'");
	}
}
