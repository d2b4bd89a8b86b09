/*
 * Scheduling points by variable (--variables): the accesses that may touch the named variables. The
 * points-to analysis of bitcode/ determines them for the program and the instrumented libraries it
 * is linked with. A library loaded later has no selected accesses.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "abi/contract_memory.h"

struct points_to;

struct chosen_module {
	uint64_t name, fingerprint; /* same as in struct memory_module */
	uint32_t count;		    /* number of sites of the module */
	uint64_t *sites;	    /* bit set: the selected sites */
};

/* The sites that may touch selected variables. All zero: nothing is selected. */
struct chosen {
	struct chosen_module *modules;
	uint32_t module_count;
	uint32_t variable_count;     /* variables that match the patterns */
	uint32_t site_count;	     /* sites that may touch these variables */
	struct points_to *points_to; /* the analysis for focused runs; NULL: not needed so far */
};

/*
 * `patterns`: comma-separated names as `raddle cc --points-to` prints them. "queue" also matches
 * "queue.head" and "queue[]", and * matches anything. A pattern without a match is an error.
 * `program`: path of the executable; `loader`: its program interpreter. Release with
 * chosen_release().
 */
int chosen_find(struct chosen *chosen, const char *program, const char *loader,
	const char *patterns, struct error *err);
void chosen_release(struct chosen *chosen);

struct chosen_program {
	const char *path, *loader;
	unsigned seconds_most; /* limit on the time of the points-to analysis; 0: none */
};

/*
 * Writes which sites may touch the same variables (runtime/focus.h) into the block of a process
 * that has loaded its modules and makes no run. Writes nothing if there are too many groups or
 * unknown modules. Returns a negative error if the analysis fails. *result: the points-to analysis
 * of an earlier call, or NULL; the caller frees it.
 */
int chosen_group(struct contract_memory *memory, const struct chosen_program *program,
	struct points_to **result, struct error *err);

/* `memory`: no process has used the block yet. */
void chosen_apply(const struct chosen *chosen, struct contract_memory *memory);
