/*
 * What a person says of atomic sets and units of work, to correct what is inferred (atomic_sets.h): lines
 * of a file, or of the program itself (include/raddle.h puts the same lines into it).
 *
 *	unit FUNCTION		it is a unit of work, of all sets
 *	no-unit FUNCTION	it is none; those that call it may be
 *	set NAME PART PART ...	these parts are a set of their own, taken out of the others
 *	no-set PART		it need not agree with anything
 *
 * PART: a struct ("account"), a field of one ("account.checking"), or a static variable ("total"). A set
 * of fields of one struct is one set for each object; any other is one for the program. A line may begin
 * with blanks; what follows # is for people.
 */
#ifndef RADDLE_ANALYSES_ATOMIC_RULES_H
#define RADDLE_ANALYSES_ATOMIC_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/owners.h"

enum atomic_verb { ATOMIC_UNIT, ATOMIC_NO_UNIT, ATOMIC_SET, ATOMIC_NO_SET, ATOMIC_VERBS };

struct atomic_rule {
	enum atomic_verb verb;
	char *name;   /* function, or set; NULL: no-set */
	char **parts; /* owned */
	uint32_t part_count;
	char *source; /* "sets.txt:3", "the program's own annotation" */
};

/* All zero: none. */
struct atomic_rules {
	struct atomic_rule *items; /* owned */
	uint32_t count, capacity;
	bool has_library; /* types of the C++ library's own are sets, too (symbols_part.is_of_library) */
};

void atomic_rules_release(struct atomic_rules *rules);
/* A line; `source` is where it stands. Empty ones add nothing. */
int atomic_rules_add(
	struct atomic_rules *rules, const char *line, const char *source, struct error *err);
int atomic_rules_read(struct atomic_rules *rules, const char *path, struct error *err);
/* Every name in them must be known to the debug information: else the first that is not is the error. */
int atomic_rules_check(
	const struct atomic_rules *rules, struct symbols *symbols, struct error *err);

/* What is said of a function. */
enum atomic_verdict { ATOMIC_UNSAID, ATOMIC_YES, ATOMIC_NO };
enum atomic_verdict atomic_rules_unit(const struct atomic_rules *rules, const char *function);
/* The rule about a part, a set or no-set; NULL: none. */
const struct atomic_rule *atomic_rules_part(
	const struct atomic_rules *rules, const struct symbols_part *part);
/* Is a set of this rule one for each object? */
bool atomic_rule_is_of_objects(const struct atomic_rule *rule);

#endif
