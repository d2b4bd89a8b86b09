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
	struct term *terms[SITE_TOLD_MOST + 8]; /* of those that are looked at */
};

struct library_walk {
	struct library_bytes arguments[2];
	uint64_t limit;		 /* of bytes that the function looks at */
	uint32_t count;		 /* that are looked at here */
	struct term *limit_term; /* NULL: it is a constant, or pinned */
};

/* Reads what the call is about to read. */
enum step walk_library_read(struct walker *walker, const struct code *call,
	const uint64_t *registers, struct library_walk *out);
/* The call has returned: the term of its result. */
void walk_library_result(struct walker *walker, const struct code *call, const uint64_t *registers,
	struct library_walk *of);

#endif
