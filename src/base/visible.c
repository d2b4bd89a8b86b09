#include "base/visible.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t visible_escape_byte(unsigned char byte, char out[VISIBLE_BYTES])
{
	(void)snprintf(out, VISIBLE_BYTES, "\\x%02x", byte);
	return 1;
}

/* Returns whether the character is a control character, bidirectional mark, line separator or
 * noncharacter. */
static bool visible_is_hidden(uint32_t point, bool has_lines)
{
	if (point == '\n' || point == '\t')
		return !has_lines;
	return point < ' ' || (point >= 0x7f && point < 0xa0) || point == 0x61c ||
	       point == 0x200e || point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
	       (point >= 0x2066 && point <= 0x2069) || point == 0xfffe || point == 0xffff;
}

/* Returns the length in bytes of the UTF-8 sequence that `byte` starts; 0: `byte` starts none. */
static size_t visible_length(unsigned char byte)
{
	if (byte < 0x80)
		return 1;
	if (byte >= 0xc2 && byte < 0xe0)
		return 2;
	if (byte >= 0xe0 && byte < 0xf0)
		return 3;
	return byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
}

/* Rejects overlong encodings, surrogates, and numbers above U+10FFFF. */
static bool visible_is_valid(uint32_t point, size_t length)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

	return point >= least[length] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

size_t visible_character(const char *at, size_t left, bool has_lines, char out[VISIBLE_BYTES])
{
	const unsigned char *bytes = (const unsigned char *)at;
	const size_t length = left ? visible_length(bytes[0]) : 0;
	uint32_t point;

	out[0] = '\0';
	if (!left)
		return 0;
	if (!length)
		return visible_escape_byte(bytes[0], out);
	point = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (i == left)
			return 0;
		if ((bytes[i] & 0xc0) != 0x80)
			return visible_escape_byte(bytes[0], out);
		point = point << 6 | (bytes[i] & 0x3f);
	}
	if (!visible_is_valid(point, length))
		return visible_escape_byte(bytes[0], out);
	if (visible_is_hidden(point, has_lines)) {
		(void)snprintf(out, VISIBLE_BYTES, "\\u%04x", (unsigned)(point & 0xffff));
	} else {
		memcpy(out, at, length);
		out[length] = '\0';
	}
	return length;
}

void visible_add(struct strbuf *out, const char *text, size_t length, bool has_lines)
{
	char character[VISIBLE_BYTES];

	while (length) {
		size_t used = visible_character(text, length, has_lines, character);

		if (!used)
			used = visible_escape_byte((unsigned char)*text, character);
		strbuf_adds(out, character);
		text += used;
		length -= used;
	}
}

char *visible_text(const char *text, bool has_lines)
{
	struct strbuf out = STRBUF_EMPTY;

	if (!text)
		return NULL;
	visible_add(&out, text, strlen(text), has_lines);
	return strbuf_detach(&out);
}

bool is_visible(const char *text, bool has_lines)
{
	char character[VISIBLE_BYTES];
	size_t left = strlen(text);

	while (left) {
		const size_t used = visible_character(text, left, has_lines, character);

		if (!used || strncmp(character, text, used) != 0)
			return false;
		text += used;
		left -= used;
	}
	return true;
}
