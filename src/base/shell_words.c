#include "base/shell_words.h"

#include <string.h>

#include "base/visible.h"

#define PLAIN                                                                                      \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"                           \
	"-_./=,:+@%"

/* Appends the word as $'...'; characters that are unsafe on a terminal become byte escapes. */
static void shell_words_add_escaped(struct strbuf *out, const char *word)
{
	char character[VISIBLE_BYTES];
	size_t left = strlen(word), used;

	strbuf_adds(out, "$'");
	for (; left; word += used, left -= used) {
		used = visible_character(word, left, false, character);
		used = used ? used : 1;
		if (*word == '\'' || *word == '\\') {
			strbuf_addf(out, "\\%c", *word);
		} else if (strncmp(character, word, used) == 0) {
			strbuf_add(out, word, used);
		} else {
			for (size_t i = 0; i < used; i++)
				strbuf_addf(out, "\\x%02x", (unsigned char)word[i]);
		}
	}
	strbuf_adds(out, "'");
}

void shell_words_add(struct strbuf *out, char *const *words)
{
	for (size_t i = 0; words[i]; i++) {
		if (i)
			strbuf_adds(out, " ");
		if (*words[i] && strspn(words[i], PLAIN) == strlen(words[i])) {
			strbuf_adds(out, words[i]);
			continue;
		}
		if (!is_visible(words[i], false)) {
			shell_words_add_escaped(out, words[i]);
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
