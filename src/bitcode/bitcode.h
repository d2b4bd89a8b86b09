/*
 * What raddle knows of a program from the bitcode that raddle-cc left in it: which variables each site
 * may touch. The work is done by libraddle-bitcode.so, which needs LLVM and is only loaded when asked
 * for; what it gives back is plain.
 *
 * A *variable* is a place in a piece of memory that the program has a name for: a global, a local of a
 * function, or what an allocation site returns; with the distance of the place from its start.
 */
#ifndef RADDLE_BITCODE_BITCODE_H
#define RADDLE_BITCODE_BITCODE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct points_to_variable {
	char *name;	  /* "counter", "queue+8", "malloc at bank.c:41", "a local of main" */
	int64_t distance; /* in its object; of an array: modulo the stride */
	uint64_t bytes;	  /* up to the next one at most; UINT64_MAX: to the end of the object */
};

/* A global, or a local of main: what can be found in memory. */
struct points_to_object {
	char *symbol;	/* a global as it is linked; NULL: a local of main, */
	uint32_t file;	/* whose site of kind SITE_ADDRESS this is */
	uint32_t index; /* likewise */
	uint64_t bytes; /* of a local; 0: not known */
	int64_t stride; /* 0: it is not folded */
	uint32_t first_variable, variable_count;
};

/* What a site may touch; index of the site as in symbols/site_table.h. */
struct points_to_site {
	uint32_t file; /* number in the list of paths */
	uint32_t index;
	uint8_t kind;	     /* enum site_kind */
	char *place;	     /* "get (queue.c:12)" */
	uint32_t *variables; /* ascending */
	uint32_t variable_count;
	bool is_open;	   /* also all that code without bitcode may know (points_to.foreign) */
	bool is_unmatched; /* its instruction is not known: it may touch anything */
};

struct points_to {
	struct points_to_variable *variables;
	uint32_t variable_count;
	struct points_to_object *objects;
	uint32_t object_count;
	struct points_to_site *sites; /* those with an address, by file and index */
	uint32_t site_count;
	uint32_t *foreign; /* variables that code without bitcode may touch and hand around */
	uint32_t foreign_count;
	/* for the curious */
	uint64_t instruction_count;
	uint32_t node_count, wave_count;
};

/*
 * Analyses an executable (or library) and the instrumented libraries that it is linked with, which the
 * caller names too. LLVM or its library missing: ERROR_MISSING and one line with the package.
 */
int points_to_compute(
	struct points_to **out, const char *const *paths, uint32_t path_count, struct error *err);
void points_to_free(struct points_to *result);

/* For each variable, by name, the sites that may touch it. */
void points_to_print(const struct points_to *result, FILE *out);

/* ---- what libraddle-bitcode.so exports ---- */

#define BITCODE_ENTRY "raddle_points_to"
/* `bug` is the command's bug_report(): the library has none of its own. */
typedef void points_to_bug(const char *condition, const char *file, int line);
typedef int points_to_entry(struct points_to **out, const char *const *paths, uint32_t path_count,
	points_to_bug *bug, struct error *err);

#endif
