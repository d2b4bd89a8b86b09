#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"

char strbuf_empty_text[1];

static void strbuf_reserve(struct strbuf *buf, size_t extra)
{
	size_t needed = buf->length + extra + 1;
	size_t capacity = buf->capacity ? buf->capacity : 64;

	if (needed <= buf->capacity)
		return;
	while (capacity < needed)
		capacity *= 2;
	buf->text = realloc(buf->capacity ? buf->text : NULL, capacity);
	BUG_ON(!buf->text);
	buf->capacity = capacity;
}

void strbuf_init(struct strbuf *buf)
{
	*buf = (struct strbuf)STRBUF_EMPTY;
}

void strbuf_release(struct strbuf *buf)
{
	if (buf->capacity)
		free(buf->text);
	*buf = (struct strbuf){0};
}

void strbuf_clear(struct strbuf *buf)
{
	buf->length = 0;
	if (buf->capacity)
		buf->text[0] = '\0';
}

void strbuf_add(struct strbuf *buf, const char *bytes, size_t size)
{
	strbuf_reserve(buf, size);
	memcpy(buf->text + buf->length, bytes, size);
	buf->length += size;
	buf->text[buf->length] = '\0';
}

void strbuf_adds(struct strbuf *buf, const char *text)
{
	strbuf_add(buf, text, strlen(text));
}

void strbuf_vaddf(struct strbuf *buf, const char *format, va_list args)
{
	va_list again;
	int size;

	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, again);
	va_end(again);
	BUG_ON(size < 0);
	strbuf_reserve(buf, (size_t)size);
	(void)vsnprintf(
		buf->text + buf->length, (size_t)size + 1, format, args); /* size is known */
	buf->length += (size_t)size;
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_vaddf(buf, format, args);
	va_end(args);
}

char *strbuf_detach(struct strbuf *buf)
{
	char *text;

	strbuf_reserve(buf, 0);
	text = buf->text;
	text[buf->length] = '\0';
	strbuf_init(buf);
	return text;
}

char *string_copy(const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	BUG_ON(text && !copy);
	return copy;
}

char *string_copy_part(const char *text, size_t length)
{
	char *copy = strndup(text, length);

	BUG_ON(!copy);
	return copy;
}

char **strings_copy(char *const *list)
{
	size_t count = 0;
	char **copy;

	while (list[count])
		count++;
	copy = array_new(count + 1, sizeof *copy);
	for (size_t i = 0; i < count; i++)
		copy[i] = string_copy(list[i]);
	return copy;
}

void strings_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

unsigned strings_find(const char *const *list, unsigned count, const char *word)
{
	unsigned i = 0;

	while (i < count && strcmp(list[i], word) != 0)
		i++;
	return i;
}
