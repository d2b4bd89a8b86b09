/*
 * The accesses that may touch chosen variables (--variables): only they are scheduling points. Which
 * they are tells the points-to analysis of bitcode/ for the program and the instrumented libraries
 * that it is linked with; a library that is loaded later has none.
 */
#ifndef RADDLE_PLAN_CHOSEN_H
#define RADDLE_PLAN_CHOSEN_H

#include <stdint.h>

#include "base/error.h"
#include "abi/contract_memory.h"

struct chosen_module {
	uint64_t name, fingerprint; /* as in struct memory_module */
	uint32_t count;		    /* of its sites */
	uint64_t *sites;	    /* bit set: the chosen ones */
};

/* All zero: nothing is chosen. */
struct chosen {
	struct chosen_module *modules;
	uint32_t module_count;
	uint32_t variable_count; /* that the patterns mean */
	uint32_t site_count;	 /* that may touch them */
};

/*
 * `patterns`: names as `raddle cc --points-to` prints them, separated by commas; "queue" also means
 * its parts "queue.head" and "queue[]", and * stands for anything. A pattern that means none is an
 * error. `program`: its file; `loader`: its program interpreter.
 */
int chosen_find(struct chosen *chosen, const char *program, const char *loader,
	const char *patterns, struct error *err);
void chosen_release(struct chosen *chosen);

/*
 * Which sites may touch the same variables, for strategies that need the accesses to a few of them
 * (runtime/focus.h): into the block of a process that has loaded its modules and makes no run. Where there
 * are too many groups of sites, or modules that are not known, it leaves it as it is.
 */
int chosen_group(
	struct contract_memory *memory, const char *program, const char *loader, struct error *err);

/* Into a block that no process has used yet. */
void chosen_apply(const struct chosen *chosen, struct contract_memory *memory);

#endif
