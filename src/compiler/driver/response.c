/* Response files (@FILE): options that exceed a command line. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "compiler/driver/arguments.h"
#include "compiler/driver/compile.h"

/* Maximum nesting of response files. Deeper nesting must be a cycle. */
#define DEPTH_MOST 10

/* Returns the contents, which the caller frees. Returns NULL if the file does not exist, which the
 * compiler will report. */
static char *response_read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	struct strbuf text = STRBUF_EMPTY;
	char part[4096];
	size_t size;

	if (!file)
		return NULL;
	while ((size = fread(part, 1, sizeof part, file)) > 0)
		strbuf_add(&text, part, size);
	(void)fclose(file); /* read-only */
	return strbuf_detach(&text);
}

/* Reads the next word as clang does: quotes keep blanks, a backslash escapes. Returns the text
 * after the word. */
static const char *response_take_word(const char *at, struct strbuf *word)
{
	char quote = '\0';

	strbuf_clear(word);
	for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
		if (*at == '\\' && at[1])
			strbuf_add(word, ++at, 1);
		else if (quote && *at == quote)
			quote = '\0';
		else if (!quote && (*at == '"' || *at == '\''))
			quote = *at;
		else
			strbuf_add(word, at, 1);
	}
	return at;
}

static void response_add_opened(struct arguments *out, const char *argument, unsigned depth);

static void response_add_words(struct arguments *out, const char *text, unsigned depth)
{
	STRBUF_SCOPED word = STRBUF_EMPTY;

	for (;;) {
		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			break;
		text = response_take_word(text, &word);
		response_add_opened(out, word.text, depth);
	}
}

static void response_add_opened(struct arguments *out, const char *argument, unsigned depth)
{
	char *text =
		*argument == '@' && depth < DEPTH_MOST ? response_read_file(argument + 1) : NULL;

	if (text)
		response_add_words(out, text, depth + 1);
	else
		arguments_add(out, argument);
	free(text);
}

static bool response_names_lto(const struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->count; i++)
		if (strncmp(arguments->items[i], "-flto", 5) == 0)
			return true;
	return false;
}

bool compile_open_files(char *const *argv, struct arguments *out)
{
	bool is_needed = false;

	*out = (struct arguments){0};
	for (; *argv; argv++) {
		struct arguments words = {0};

		if (**argv == '@')
			response_add_opened(&words, *argv, 0);
		if (!response_names_lto(&words)) {
			arguments_add(out, *argv);
		} else {
			is_needed = true;
			for (size_t i = 0; i < words.count; i++)
				arguments_add(out, words.items[i]);
		}
		arguments_release(&words);
	}
	if (!is_needed)
		arguments_release(out);
	return is_needed;
}
