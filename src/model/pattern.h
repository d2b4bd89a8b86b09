/*
 * Access patterns: one to four accesses to one or two variables, by two threads, in an order that is
 * often wrong. The kinds stand in patterns.def. Patterns of different runs are the same pattern if
 * their keys are equal.
 */
#ifndef RADDLE_MODEL_PATTERN_H
#define RADDLE_MODEL_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

#define PATTERN_ACCESSES_MAX 4
#define PATTERN_PARTIES 2
#define PATTERN_VARIABLES_MAX 2

enum pattern_kind {
#define PATTERN(name, text, kinds, parties, variables, meaning) PATTERN_##name,
#include "model/patterns.def"
#undef PATTERN
	PATTERN_KIND_COUNT
};

/* Row of patterns.def. */
struct pattern_description {
	const char *text;      /* "R1-W2-W1" */
	const char *kinds;     /* R or W, one for each access */
	const char *parties;   /* '1' or '2' */
	const char *variables; /* 'x' or 'y' */
	const char *meaning;
};

extern const struct pattern_description pattern_descriptions[PATTERN_KIND_COUNT];

/*
 * A pattern as one run showed it. The key is of what is equal in all runs: kind, sites, roles and
 * classes. The rest tells where it was seen first in this run.
 */
struct pattern {
	uint64_t key;
	uint64_t sites[PATTERN_ACCESSES_MAX]; /* of accesses; 0 beyond the pattern's count */
	uint64_t roles[PATTERN_PARTIES]; /* start functions of the threads; 0: the main thread's */
	uint32_t classes[PATTERN_VARIABLES_MAX]; /* kinds of memory; 0: there is no such variable */
	uint32_t times;				 /* in this run */

	uint64_t steps[PATTERN_ACCESSES_MAX];
	uint64_t addresses[PATTERN_VARIABLES_MAX];
	object_name objects[PATTERN_VARIABLES_MAX];
	thread_name names[PATTERN_PARTIES];
	uint16_t threads[PATTERN_PARTIES]; /* indices in that run */
	uint8_t kind;			   /* enum pattern_kind */
	bool is_followed;		   /* PATTERN_R: a write came after it all the same */
	uint8_t reserved[2];
	uint8_t ops[PATTERN_ACCESSES_MAX]; /* enum op_kind: what each access was */
};

/* Of kind, sites, roles and classes. Never 0. */
uint64_t pattern_key(const struct pattern *pattern);

/* 1: a read too early, 2: an order pattern, 3: an atomicity pattern, 4: one over two variables. */
unsigned pattern_access_count(const struct pattern *pattern);
bool pattern_is_write(const struct pattern *pattern, unsigned access);
/* Is the pattern an order of operations on synchronisation objects (locks, waits, signals, creations, joins), not of accesses? */
bool pattern_is_order(const struct pattern *pattern);
/* 0 or 1. */
unsigned pattern_party(const struct pattern *pattern, unsigned access);
unsigned pattern_variable(const struct pattern *pattern, unsigned access);

#endif
