/* Statements of the source. One that is newer than the program is ignored. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/hash_table.h"
#include "base/files/regular_file.h"
#include "base/strbuf.h"
#include "symbols/symbols_internal.h"

/* Longer statements are cut. */
#define STATEMENT_LINES 6
#define STATEMENT_BYTES 2000

struct source_text {
	struct {
		const char *file; /* owned by symbols */
		uint64_t line;
	} key;
	char *text; /* NULL if unreadable */
	UT_hash_handle hh;
};

static FILE *source_text_open_source(const char *path, Dwfl_Module *module)
{
	const char *program = NULL;
	struct stat source, linked;
	const int fd = regular_file_open(AT_FDCWD, path, true, &source);

	(void)dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &program, NULL);
	if (fd >= 0 && (size_t)source.st_size <= SOURCE_BYTES_MAX && program &&
		!stat(program, &linked) && source.st_mtime <= linked.st_mtime)
		return fdopen(fd, "r");
	if (fd >= 0)
		(void)close(fd); /* opened for reading only */
	return NULL;
}

/* Adds the line, and neighbouring lines that belong to its statement. */
static void source_text_read_statement(FILE *stream, unsigned line, char *out)
{
	size_t capacity = 0, used = 0;
	bool is_over = false;
	FREE_SCOPED char *text = NULL;

	for (unsigned at = 1; !is_over && at < line + STATEMENT_LINES; at++) {
		const ssize_t got = getline(&text, &capacity, stream);

		if (got < 0)
			break;
		if (at < line && (strpbrk(text, ";{}") || used + (size_t)got >= STATEMENT_BYTES))
			used = 0; /* a new statement begins */
		else if (used + (size_t)got < STATEMENT_BYTES) {
			memcpy(out + used, text, (size_t)got);
			used += (size_t)got;
		}
		is_over = at >= line && strpbrk(text, ";{");
	}
	out[used] = '\0';
}

static char *source_text_read_source(
	struct symbols *symbols, Dwfl_Module *module, const char *file, unsigned line)
{
	char text[STATEMENT_BYTES], *path = NULL, *copy;
	FILE *stream;

	BUG_ON(asprintf(&path, "%s%s", *file == '/' ? "" : symbols->working_folder, file) < 0);
	stream = source_text_open_source(path, module);
	free(path);
	if (!stream)
		return NULL;
	source_text_read_statement(stream, line, text);
	(void)fclose(stream); /* opened for reading only */
	copy = string_copy(text);
	return copy;
}

const char *source_statement(
	struct symbols *symbols, Dwfl_Module *module, const char *file, unsigned line)
{
	struct source_text key = {.key = {.file = symbols_keep(symbols, file), .line = line}};
	struct source_text *found;

	HASH_FIND(hh, symbols->source_texts, &key.key, sizeof key.key, found);
	if (found)
		return found->text;
	found = array_new(1, sizeof *found);
	found->key = key.key;
	found->text = line ? source_text_read_source(symbols, module, file, line) : NULL;
	HASH_ADD(hh, symbols->source_texts, key, sizeof found->key, found);
	return found->text;
}

const char *source_statement_at(struct symbols *symbols, uint64_t code)
{
	struct symbols_frame frames[CHAIN_MAX];
	const unsigned count = symbols_lookup(symbols, code, false, frames, CHAIN_MAX);
	Dwfl_Module *module = symbols_module_at(symbols, code);

	for (unsigned i = 0; module && i < count; i++)
		if (!frames[i].is_system && frames[i].file)
			return source_statement(symbols, module, frames[i].file, frames[i].line);
	return NULL;
}

bool source_is_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

const char *source_find_word(const char *at, const char *word, const char *start)
{
	const size_t length = strlen(word);

	while ((at = strstr(at, word))) {
		if ((at == start || !source_is_word(at[-1])) && !source_is_word(at[length]))
			return at + length;
		at += length;
	}
	return NULL;
}

void symbols_forget_source_texts(struct symbols *symbols)
{
	HASH_FREE_EACH(symbols->source_texts, text, free(text->text));
}
