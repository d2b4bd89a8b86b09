/*
 * Annotations of atomic sets and units of work, which correct the inference (atomic_sets.h). The
 * annotations are lines of a file, or of the program itself (include/raddle.h stores the same lines
 * in it).
 *
 * unit FUNCTION - the function is a unit of work of all sets no-unit FUNCTION - it is no unit of
 * work; its callers may be set NAME PART PART ... - these parts form a set of their own, removed
 * from other sets no-set PART - the part belongs to no set
 *
 * PART: a struct ("account"), a field of one ("account.checking"), or a static variable ("total").
 * A set of fields of one struct has an instance per object; any other set has one instance. Leading
 * blanks are ignored; # begins a comment.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/owners.h"

enum atomic_verb { ATOMIC_UNIT, ATOMIC_NO_UNIT, ATOMIC_SET, ATOMIC_NO_SET, ATOMIC_VERBS };

struct atomic_rule {
	enum atomic_verb verb;
	char *name;   /* function, or set; NULL for no-set */
	char **parts; /* owned */
	uint32_t part_count;
	char *source; /* "sets.txt:3", "the program's own annotation" */
};

/* The annotations of atomic sets and units. All zero: empty. */
struct atomic_rules {
	struct atomic_rule *items; /* owned */
	uint32_t count;
	/* internal types of the C++ library may be sets (symbols_part.is_of_library) */
	bool has_library;
};

void atomic_rules_release(struct atomic_rules *rules);
/* Adds a line; `source` names its location. Empty lines add nothing. */
int atomic_rules_add(
	struct atomic_rules *rules, const char *line, const char *source, struct error *err);
int atomic_rules_read(struct atomic_rules *rules, const char *path, struct error *err);
/* Checks every name against the debug information. The error names the first unknown one. */
int atomic_rules_check(
	const struct atomic_rules *rules, struct symbols *symbols, struct error *err);

/* Result of a search for the annotation of a function. */
enum atomic_verdict { ATOMIC_UNSAID, ATOMIC_YES, ATOMIC_NO };
enum atomic_verdict atomic_rules_unit(const struct atomic_rules *rules, const char *function);
/* Returns the rule (set or no-set) for a part; NULL if there is none. */
const struct atomic_rule *atomic_rules_part(
	const struct atomic_rules *rules, const struct symbols_part *part);
/* Returns whether a set of this rule has an instance per object. */
bool atomic_rule_is_of_objects(const struct atomic_rule *rule);
