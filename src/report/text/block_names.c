#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/text/block_names.h"
#include "report/text/layout.h"

#define INDENT 2
#define FREED ", freed"

void block_names_release(struct block_names *names)
{
	for (uint32_t i = 0; i < names->count; i++) {
		free(names->names[i].block);
		free(names->names[i].type);
	}
	free(names->names);
	*names = (struct block_names){0};
}

/* Returns the parenthesis that closes the one at `open`; NULL if there is none. */
static const char *block_names_close(const char *open)
{
	unsigned depth = 0;

	for (const char *at = open; *at; at++) {
		depth += *at == '(';
		if (*at == ')' && !--depth)
			return at;
	}
	return NULL;
}

/* Returns whether the text ends with the number of a block, ", #3". */
static bool block_names_ends_with_number(const char *start, const char *end)
{
	const char *at = end;

	while (at > start && isdigit((unsigned char)at[-1]))
		at--;
	return at < end && at - start > 3 && strncmp(at - 3, ", #", 3) == 0;
}

/* Returns "node" for "(struct net::node<...> *)malloc at ...", and "block" where no type is known.
 * The caller frees it. */
static char *block_names_type(const char *block)
{
	const char *end = *block == '(' ? strstr(block, " *)") : NULL, *start = block + 1;
	unsigned depth = 0;

	if (!end)
		return string_copy(!strncmp(block, "mmap", 4)	  ? "mapping"
				   : !strncmp(block, "string", 6) ? "string"
								  : "block");
	for (const char *at = start; at < end; at++) {
		depth += *at == '<';
		depth -= *at == '>' && depth;
		if (!depth && (*at == ':' || *at == ' '))
			start = at + 1;
	}
	return string_copy_part(start, strcspn(start, "< *"));
}

static const struct block_name *block_names_find(
	struct block_names *names, const char *block, size_t length)
{
	struct block_name name;
	char *type;
	unsigned number = 1;

	for (uint32_t i = 0; i < names->count; i++)
		if (!strncmp(names->names[i].block, block, length) &&
			!names->names[i].block[length])
			return &names->names[i];
	type = block_names_type(block);
	for (uint32_t i = 0; i < names->count; i++)
		number += !strcmp(names->names[i].type, type);
	name = (struct block_name){
		.block = string_copy_part(block, length), .type = type, .number = number};
	ARRAY_APPEND(names->names, names->count, name);
	return &names->names[names->count - 1];
}

void block_names_add_text(struct block_names *names, const char *text, struct strbuf *out)
{
	while (*text) {
		const char *close = *text == '(' ? block_names_close(text) : NULL;
		const size_t suffix = strlen(FREED);
		const struct block_name *name;
		const char *end = close;
		bool is_freed;

		is_freed = close && (size_t)(close - text) > suffix &&
			   !strncmp(close - suffix, FREED, suffix);
		if (is_freed)
			end -= suffix;
		if (!close || !block_names_ends_with_number(text + 1, end)) {
			strbuf_add(out, text++, 1);
			continue;
		}
		name = block_names_find(names, text + 1, (size_t)(end - text - 1));
		strbuf_addf(out, "%s%s#%u", is_freed ? "freed " : "", name->type, name->number);
		text = close + 1;
	}
}

void block_names_add_legend(
	const struct block_names *names, const struct report_style *style, struct strbuf *out)
{
	for (uint32_t i = 0; i < names->count; i++) {
		const struct block_name *name = &names->names[i];
		STRBUF_SCOPED line = STRBUF_EMPTY;

		strbuf_addf(&line, "%s#%u is %s", name->type, name->number, name->block);
		strbuf_adds(out, "  ");
		add_wrapped(out, style, line.text, INDENT, INDENT + 2);
	}
}
