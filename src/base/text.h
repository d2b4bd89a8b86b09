/*
 * Text in a fixed buffer, without stdio. The runtime uses it because libc's formatting is not safe
 * inside the target. Text that does not fit is cut; the buffer is always NUL-terminated.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct text {
	char *at;  /* position of the next byte */
	char *end; /* the last byte of the buffer, reserved for the NUL */
	char *start;
};

static inline void text_init(struct text *text, char *buffer, size_t size)
{
	text->start = text->at = buffer;
	text->end = buffer + size - 1;
	*buffer = '\0';
}

static inline void text_add(struct text *text, const char *string)
{
	while (*string && text->at < text->end)
		*text->at++ = *string++;
	*text->at = '\0';
}

static inline void text_number(struct text *text, uint64_t value)
{
	char digits[21];
	char *digit = digits + sizeof digits - 1;

	*digit = '\0';
	do {
		*--digit = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	text_add(text, digit);
}

static inline size_t text_length(const struct text *text)
{
	return (size_t)(text->at - text->start);
}

/* Writes a number such as "1,234,567" to `buffer`, which has at least 32 bytes, and returns it. */
static inline const char *text_grouped(uint64_t value, char *buffer)
{
	char digits[24];
	struct text text;
	char *to = buffer;

	text_init(&text, digits, sizeof digits);
	text_number(&text, value);
	for (size_t left = text_length(&text); left; left--) {
		*to++ = digits[text_length(&text) - left];
		if (left > 1 && left % 3 == 1)
			*to++ = ',';
	}
	*to = '\0';
	return buffer;
}
