/*
 * Points-to analysis of a program, from the bitcode that raddle-cc left in its files. The result
 * names the variables that each site may touch.
 *
 * A *site* is an instrumented instruction (symbols/tables/site_table.h). A *variable* is a part of an
 * object that has a name in the program: a global, a local of a function, or the result of an
 * allocation site, plus a distance from the start of the object. *Foreign* memory is known to code
 * without bitcode, which may touch this memory and pass its address on.
 *
 * Life cycle: points_to_compute(), which runs in libraddle-bitcode.so; then the result is plain
 * data of the caller until points_to_free(). The library needs LLVM and is loaded only on demand.
 * docs/points-to.md describes the analysis.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct points_to_variable {
	char *name;	  /* "counter", "queue+8", "malloc at bank.c:41", "a local of main" */
	int64_t distance; /* distance from the start of its object; in an array modulo the stride */
	/* Size: at most up to the next variable; UINT64_MAX: to the end of the object. */
	uint64_t bytes;
};

/* An object that can be located in a process: a global, or a local of main. */
struct points_to_object {
	char *symbol;  /* linkage name of a global; NULL for a local of main */
	uint32_t file; /* file and index of the site (SITE_ADDRESS) that locates a local */
	uint32_t index;
	uint64_t bytes; /* size of a local; 0: not known */
	int64_t stride; /* 0: the object is not folded (flow.h) */
	uint32_t first_variable, variable_count;
};

struct points_to_site {
	uint32_t file; /* number in the list of paths */
	uint32_t index;
	uint8_t kind;	     /* enum site_kind */
	char *location;	     /* "get (queue.c:12)" */
	uint32_t *variables; /* ascending */
	uint32_t variable_count;
	bool is_open; /* may also touch everything in points_to.foreign */
	/* True if no instruction was found for the site, which may therefore touch anything. */
	bool is_unmatched;
};

struct points_to {
	struct points_to_variable *variables;
	uint32_t variable_count;
	struct points_to_object *objects;
	uint32_t object_count;
	struct points_to_site *sites; /* sites with an address, sorted by file and index */
	uint32_t site_count;
	uint32_t *foreign; /* variables that code without bitcode may touch and pass on */
	uint32_t foreign_count;
	uint64_t instruction_count;
	uint32_t node_count;
};

/* Executables and libraries that are analysed together. */
struct points_to_files {
	const char *const *paths;
	uint32_t count;
	unsigned seconds_most; /* limit on the time of the analysis; 0: none */
};

/*
 * Analyses an executable or library with the instrumented libraries that it is linked with, all
 * named by the caller. If LLVM or libraddle-bitcode.so is missing, the error names the package to
 * install. Returns ERROR_LIMIT if the analysis takes too long. On success the caller owns *out.
 */
int points_to_compute(
	struct points_to **out, const struct points_to_files *files, struct error *err);
void points_to_free(struct points_to *result);

/* Prints, for each variable by name, the sites that may touch it. */
void points_to_print(const struct points_to *result, FILE *out);

#define BITCODE_ENTRY "raddle_points_to"
/* `bug` is the command's bug_report(), as the library has none of its own. */
typedef void points_to_bug(const char *condition, const char *file, int line);
typedef int points_to_entry(struct points_to **out, const struct points_to_files *files,
	points_to_bug *bug, struct error *err);
