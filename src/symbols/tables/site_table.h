/*
 * The instrumentation sites of an executable or shared library built by raddle-cc
 * (abi/instrument_abi.h). A damaged file is refused with one line of text.
 *
 * The *index* of a site is its position in the section raddle_sites; the runtime uses the same
 * index.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct site_table;

/* A source location. Strings live as long as the table; unknown parts are NULL or 0. */
struct site_source {
	const char *function; /* linker name (mangled) */
	const char *file;     /* path as the compiler received it */
	uint32_t line, column;
	/* location where this function was inlined, for site_table_outer(); 0: not inlined */
	uint64_t outer;
};

struct site {
	uint64_t point; /* address of the access in the file's address space; 0: SITE_OPAQUE */
	uint32_t index;
	uint8_t kind;	/* enum site_kind */
	uint8_t order;	/* enum site_order */
	uint16_t bytes; /* bytes of the access; 0: see instrument_abi.h */
	uint32_t flags; /* SITE_VOLATILE, ... */
	const char *type, *field;
	struct site_source location;
	/* position in the embedded bitcode: n-th function of its unit, n-th instruction of that */
	uint32_t function_number, instruction_number;
};

/* Errors: ERROR_NOTFOUND: no sites; ERROR_VERSION: another raddle's; ERROR_FORMAT: damaged. */
int site_table_open(struct site_table **out, const char *path, struct error *err);
void site_table_free(struct site_table *table);

uint32_t site_table_count(const struct site_table *table);
/* The index must be below the count. */
const struct site *site_table_at(const struct site_table *table, uint32_t index);
/* Returns NULL if no site has this point. */
const struct site *site_table_find(const struct site_table *table, uint64_t point);
/* Finds the location of the call where `location` was inlined; false: not inlined. */
bool site_table_outer(const struct site_table *table, const struct site_source *location,
	struct site_source *outer);
/* Returns the linker name of the outermost function of the site's locations; NULL if unknown. */
const char *site_table_function(const struct site_table *table, const struct site *site);

/* Returns a section that is not loaded (".raddle.bitcode"), valid as long as the table; may be
 * NULL. */
const void *site_table_section(const struct site_table *table, const char *name, size_t *size);
