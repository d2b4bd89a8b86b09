/*
 * Maps accesses to source lines. A line's copies by the compiler, each a site of its own, are one
 * location. If lines are not available, each site is a location, identified by its offset in its module.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/slots.h"
#include "model/pattern.h"
#include "symbols/symbols.h"

struct explain_location {
	uint64_t site;	   /* 0: free slot of the table */
	uint64_t id;	   /* id of the line: equal sites of the program's text have equal ids */
	uint64_t function; /* id of the function that contains the line */
	/* Strings owned by the symbols; NULL and 0: unknown. */
	const char *function_name, *file;
	const char *module;
	uint64_t offset; /* offset in the module */
	unsigned line;
	bool is_read, is_written; /* an access of a pattern reads or writes there */
	bool is_system;		  /* all frames of the site are outside of the user's code */
};

struct explain_locations {
	struct symbols *symbols; /* NULL if none */
	struct slots slots;	 /* struct explain_location, by site */
};

/* Releases the contents. To begin, set `symbols` and let all other members be zero: the table is then empty. */
void explain_locations_release(struct explain_locations *locations);

/* Finds copies of lines outside of patterns, except in very large programs. `site`: in own code. */
void explain_locations_add_program(
	struct explain_locations *locations, const char *path, uint64_t site);

/* Returns the location of a site; valid until the next call. */
const struct explain_location *explain_location(struct explain_locations *locations, uint64_t site);
/* Returns the pattern's key by locations instead of sites. */
uint64_t explain_locations_key(struct explain_locations *locations, const struct pattern *pattern);
/* Finds up to `most` sites of the n-th access's line with the same kind of access, among patterns
 * whose keys were requested. Returns at least one: the pattern's own. */
uint32_t explain_locations_like(const struct explain_locations *locations,
	const struct pattern *pattern, unsigned access, uint64_t *sites, uint32_t most);
