/*
 * A growing string that is always NUL-terminated; `length` excludes the NUL. The runtime must not
 * use it: strbuf allocates with malloc and calls bug_report() when memory is exhausted.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct strbuf {
	char *text; /* never NULL after the initialisation */
	size_t length;
	size_t capacity;
};

/* The text of every buffer that has no allocation; never written. */
extern char strbuf_empty_text[1];
/* Initialises a buffer where it is declared: `struct strbuf text = STRBUF_EMPTY;`. */
#define STRBUF_EMPTY                                                                               \
	{                                                                                          \
		.text = strbuf_empty_text                                                          \
	}
/* Type of a local buffer that is released where its block ends: `STRBUF_SCOPED text = STRBUF_EMPTY;`. */
#define STRBUF_SCOPED __attribute__((cleanup(strbuf_release))) struct strbuf
/* Initialises any other buffer. */
void strbuf_init(struct strbuf *buf);
void strbuf_release(struct strbuf *buf);
void strbuf_clear(struct strbuf *buf);

void strbuf_add(struct strbuf *buf, const char *bytes, size_t size);
void strbuf_adds(struct strbuf *buf, const char *text);
void strbuf_addf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *buf, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* Returns the string, which the caller frees. The buffer is empty and usable afterwards. */
char *strbuf_detach(struct strbuf *buf);

/* Returns a copy of `text`, which the caller frees; NULL: NULL. */
char *string_copy(const char *text);
/* Copies a list that NULL ends, with its strings; strings_free() frees both and accepts NULL. */
char **strings_copy(char *const *list);
void strings_free(char **list);
/* Returns the index of `word` in the list, or `count`. */
unsigned strings_find(const char *const *list, unsigned count, const char *word);
/* Returns a copy of the first `length` bytes, or of the whole text if it is shorter. */
char *string_copy_part(const char *text, size_t length);
