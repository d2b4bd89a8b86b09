/* Comparisons of texts that <string.h> lacks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns false if the text is NULL. */
static inline bool starts_with(const char *text, const char *start)
{
	return text && strncmp(text, start, strlen(start)) == 0;
}

/* Use it with an array of texts: STARTS_WITH_ANY(name, prefixes). */
static inline bool starts_with_any(const char *text, const char *const *starts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (starts_with(text, starts[i]))
			return true;
	return false;
}
#define STARTS_WITH_ANY(text, starts)                                                              \
	starts_with_any(text, starts, sizeof(starts) / sizeof *(starts))

/* Returns whether the texts are equal, where NULL counts as "". */
static inline bool is_same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}
