/*
 * The sites of an executable or shared library that raddle-cc instrumented, as its file tells them
 * (abi/instrument_abi.h has the layout). Everything is checked when the table is opened: a file
 * that is damaged is refused with one line of text, whatever is wrong with it.
 *
 * The *index* of a site is its position in the section raddle_sites, the same that the runtime uses.
 */
#ifndef RADDLE_SYMBOLS_SITE_TABLE_H
#define RADDLE_SYMBOLS_SITE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct site_table;

/* A place in the source; strings live as long as the table. Unknown parts are NULL or 0. */
struct site_source {
	const char *function; /* as linked (mangled) */
	const char *file;     /* as the compiler was told */
	uint32_t line, column;
	uint64_t outer; /* for site_table_outer(): where this function was inlined; 0: nowhere */
};

struct site {
	uint64_t point; /* address of the access in the file's own addresses; 0: SITE_OPAQUE */
	uint32_t index;
	uint8_t kind;	/* enum site_kind */
	uint8_t order;	/* enum site_order */
	uint16_t bytes; /* of the access; 0: see instrument_abi.h */
	uint32_t flags; /* SITE_VOLATILE, ... */
	const char *type, *field;
	struct site_source place;
	/* in the embedded bitcode: n-th defined function of its unit, n-th instruction of that */
	uint32_t function_number, instruction_number;
};

/*
 * A file without sites gives ERROR_NOTFOUND, one that another raddle instrumented ERROR_VERSION, a
 * damaged one ERROR_FORMAT.
 */
int site_table_open(struct site_table **out, const char *path, struct error *err);
/* The same from memory, which has to stay until the table is freed; `name` is for messages. */
int site_table_read(struct site_table **out, const void *bytes, size_t size, const char *name,
	struct error *err);
void site_table_free(struct site_table *table);

uint32_t site_table_count(const struct site_table *table);
/* By index, which must be below the count. */
const struct site *site_table_at(const struct site_table *table, uint32_t index);
/* By the address of the point; NULL: there is none. */
const struct site *site_table_find(const struct site_table *table, uint64_t point);
/* The call that `place` was inlined at; false: it was not. */
bool site_table_outer(
	const struct site_table *table, const struct site_source *place, struct site_source *outer);
/* The function as linked whose code the site is in: the outermost of its places; NULL: not told. */
const char *site_table_function(const struct site_table *table, const struct site *site);

/*
 * A section of the file that is not loaded (".raddle.bitcode"); NULL and 0: it has none. The bytes
 * live as long as the table.
 */
const void *site_table_section(const struct site_table *table, const char *name, size_t *size);

#endif
