/*
 * Functions of the library that compare, measure and search bytes (decode_library.c): the record tells what they read, and
 * their result is a term where a byte is one.
 */
#ifndef RADDLE_REWALK_WALK_LIBRARY_H
#define RADDLE_REWALK_WALK_LIBRARY_H

#include "rewalk/walk_internal.h"
#include "runtime/instrument_abi.h"

/* What an argument points to. */
struct library_bytes {
	uint64_t address;
	uint32_t count;	 /* that are known */
	uint32_t extent; /* that belong to it: with what may be behind its end in the last word */
	bool is_exact;	 /* nobody writes there: the end is the end */
	uint8_t bytes[SITE_TOLD_MOST + 8];
	uint32_t looked;			/* how many of them are looked at */
	struct term *terms[SITE_TOLD_MOST + 8]; /* of those that are looked at */
	struct term
		*whens[SITE_TOLD_MOST + 8]; /* else nobody knows what stands there; NULL: it does */
};

struct library_walk {
	struct library_bytes arguments[2];
	uint64_t limit;		 /* of bytes that the function looks at */
	uint32_t count;		 /* that are looked at here of both arguments */
	struct term *limit_term; /* NULL: it is a constant, or pinned */
	uint64_t first;		 /* event of the call */
	uint64_t to;		 /* where the string is written */
	uint32_t written;	 /* bytes */
	bool is_unknown;	 /* a copy that cannot be followed */
};

/* Terms of what a call computes. */
struct builder {
	struct walker *walker;
	struct term_arena *arena;
	uint32_t width; /* of the result */
};

struct term *library_compare(
	const struct builder *builder, uint8_t predicate, struct term *a, struct term *b);
struct term *library_choose(
	const struct builder *builder, struct term *condition, struct term *yes, struct term *no);
struct term *library_number(const struct builder *builder, uint64_t value);

/* Reads what the call is about to read. */
enum step walk_library_read(struct walker *walker, const struct code *call,
	const uint64_t *registers, struct library_walk *out);
/* walk_string.c: where a copy goes, and how far. False: nobody knows. */
bool walk_string_measure(
	const struct code *call, const uint64_t *registers, struct library_walk *of);
/* What it writes, and the term of its result. */
void walk_string_write(struct walker *walker, const struct code *call, struct library_walk *of);
/* The call has returned: the term of its result. */
void walk_library_result(struct walker *walker, const struct code *call, const uint64_t *registers,
	struct library_walk *of);

#endif
