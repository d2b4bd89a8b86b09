/*
 * Which races the user does not want to hear of: files in ThreadSanitizer's syntax, one `TYPE:PATTERN`
 * a line, `#` begins a comment line. In patterns `*` stands for any text, `^` for the beginning and `$`
 * for the end of a name; without them a part of the name will do.
 *
 *	race:PATTERN		a function, file or module of either stack, or the variable
 *	race_top:PATTERN	the same of the innermost frame of either stack
 *	called_from_lib:PATTERN	the module that an access was made from
 *	mutex:, thread:, signal:, deadlock:	read, and of no effect here
 */
#ifndef RADDLE_FINDINGS_SUPPRESSIONS_H
#define RADDLE_FINDINGS_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "findings/finding.h"

enum suppression_type {
	SUPPRESS_RACE,
	SUPPRESS_RACE_TOP,
	SUPPRESS_CALLED_FROM,
	SUPPRESS_NOTHING /* the types without an effect */
};

struct suppression {
	uint8_t type; /* enum suppression_type */
	char *pattern;
};

struct suppressions {
	struct suppression *list;
	uint32_t count;
	uint32_t without_effect; /* of them: of types that mean nothing here */
};

/* `name` is the file's, for the message: one line with the number of the first bad line. */
int suppressions_parse(struct suppressions *out, const char *text, size_t size, const char *name,
	struct error *err);
void suppressions_release(struct suppressions *suppressions);

bool suppression_pattern_matches(const char *pattern, const char *name);
/* The finding is a race, and one of them matches it. */
bool suppressions_match(const struct suppressions *suppressions, const struct finding *finding);

#endif
