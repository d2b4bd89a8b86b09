/*
 * Access patterns: one to four accesses to one or two variables by two threads, in an order that is
 * often wrong (patterns.def). Equal keys in different runs: the same pattern.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

#define PATTERN_ACCESSES_MAX 4
#define PATTERN_THREADS 2
#define PATTERN_VARIABLES_MAX 2

enum pattern_kind {
#define PATTERN(name, text, kinds, parties, variables, meaning) PATTERN_##name,
#include "model/patterns.def"
#undef PATTERN
	PATTERN_KIND_COUNT
};

struct pattern_description {
	const char *text;      /* "R1-W2-W1" */
	const char *kinds;     /* R or W, one letter for each access */
	const char *parties;   /* the thread of each access, '1' or '2' */
	const char *variables; /* the variable of each access, 'x' or 'y' */
	const char *meaning;
};

extern const struct pattern_description pattern_descriptions[PATTERN_KIND_COUNT];

/* A pattern of one run. The key covers kind, sites, roles and classes, not the occurrence. */
struct pattern {
	uint64_t key;
	/* sites of the accesses; 0 beyond the pattern's access count */
	uint64_t sites[PATTERN_ACCESSES_MAX];
	uint64_t roles[PATTERN_THREADS]; /* start functions of the threads; 0: the main thread's */
	uint32_t classes[PATTERN_VARIABLES_MAX]; /* classes of memory; 0: no such variable */
	uint32_t times;				 /* number of occurrences in this run */

	uint64_t steps[PATTERN_ACCESSES_MAX];
	uint64_t addresses[PATTERN_VARIABLES_MAX];
	object_name objects[PATTERN_VARIABLES_MAX];
	thread_name names[PATTERN_THREADS];
	uint16_t threads[PATTERN_THREADS]; /* indices in that run */
	uint8_t kind;			   /* enum pattern_kind */
	bool is_followed;		   /* PATTERN_R: a write follows the read in this run */
	uint8_t reserved[2];
	uint8_t ops[PATTERN_ACCESSES_MAX]; /* enum op_kind of each access */
};

/* Returns a hash of kind, sites, roles and classes, never 0. */
uint64_t pattern_key(const struct pattern *pattern);

/* Returns the number of accesses: 1: a premature read; 2: an order pattern; 3: an atomicity
 * pattern; 4: a pattern over two variables. */
unsigned pattern_access_count(const struct pattern *pattern);
bool pattern_is_write(const struct pattern *pattern, unsigned access);
/* Returns whether the pattern describes an order of synchronisation operations (locks, waits,
 * signals, creations, joins) instead of accesses. */
bool pattern_is_order(const struct pattern *pattern);
/* Returns whether one of the patterns has the key. */
static inline bool patterns_have(const struct pattern *patterns, uint32_t count, uint64_t key)
{
	for (uint32_t i = 0; i < count; i++)
		if (patterns[i].key == key)
			return true;
	return false;
}
/* Return the thread (0 or 1) of an access, and its variable (0 or 1). */
unsigned pattern_thread(const struct pattern *pattern, unsigned access);
unsigned pattern_variable(const struct pattern *pattern, unsigned access);
