/*
 * Suppressions: races that are not reported. Files use ThreadSanitizer's syntax: one `TYPE:PATTERN`
 * per line; `#` begins a comment line. In patterns `*` stands for any text, `^` for the beginning
 * and `$` for the end of a name. A pattern without `^` and `$` also matches a part of a name.
 *
 * race:PATTERN - a function, file or module of either stack, or the variable
 * race_top:PATTERN - as race, for the innermost frame of either stack
 * called_from_lib:PATTERN - the module that an access was made from
 * mutex:, thread:, signal:, deadlock: - accepted without effect
 */
#pragma once

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
	uint32_t without_effect; /* suppressions of types without effect */
};

/* Parses a file. The error is one line with `name` and the number of the first bad line. */
int suppressions_parse(struct suppressions *out, const char *text, size_t size, const char *name,
	struct error *err);
void suppressions_release(struct suppressions *suppressions);

bool suppression_pattern_matches(const char *pattern, const char *name);
bool suppressions_match(const struct suppressions *suppressions, const struct finding *finding);
