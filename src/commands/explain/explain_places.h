/*
 * Places of accesses as a person knows them. The compiler makes several copies of a line (unrolled
 * loops, inlined functions), each a site of its own; they are one place. Where lines are not known,
 * each site is one, told by its offset in its module.
 */
#ifndef RADDLE_COMMANDS_EXPLAIN_EXPLAIN_PLACES_H
#define RADDLE_COMMANDS_EXPLAIN_EXPLAIN_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/pattern.h"
#include "symbols/symbols.h"

struct explain_place {
	uint64_t site;	   /* 0: free slot */
	uint64_t id;	   /* of the line: equal sites of the program's text are equal */
	uint64_t function; /* of the function that the line is in */
	/* Strings of the symbols; NULL and 0: not known. */
	const char *function_name, *file;
	const char *module;
	uint64_t offset; /* in the module */
	unsigned line;
	bool is_read, is_written; /* by an access of a pattern */
	bool is_system;		  /* no frame of it is the user's code */
};

struct explain_places {
	struct symbols *symbols;      /* NULL: none */
	struct explain_place *places; /* owned; open addressing by site */
	uint32_t count, capacity;
};

void explain_places_init(struct explain_places *places, struct symbols *symbols);
void explain_places_release(struct explain_places *places);

/*
 * Makes all accesses of the program known, so that explain_places_like() finds copies of a line that no
 * pattern has had yet. `site` is one in the program's own code. Very large programs are left alone.
 */
void explain_places_add_program(struct explain_places *places, const char *path, uint64_t site);

/* Valid until the next call. */
const struct explain_place *explain_place(struct explain_places *places, uint64_t site);
/* The pattern's key by places instead of sites. */
uint64_t explain_places_key(struct explain_places *places, const struct pattern *pattern);
/*
 * All sites of the line of the pattern's n-th access that do the same, as far as they are known from
 * patterns whose keys were asked for; at most `most` are written. At least one: the pattern's own.
 */
uint32_t explain_places_like(const struct explain_places *places, const struct pattern *pattern,
	unsigned access, uint64_t *sites, uint32_t most);

#endif
