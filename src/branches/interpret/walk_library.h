/*
 * Functions of the library that compare, measure and search bytes (decode_library.c): the record tells what they read, and
 * their result is a term where a byte is one.
 */
#ifndef RADDLE_BRANCHES_INTERPRET_WALK_LIBRARY_H
#define RADDLE_BRANCHES_INTERPRET_WALK_LIBRARY_H

#include "branches/interpret/walk_internal.h"
#include "abi/instrument_abi.h"

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
	bool is_unknown;	 /* what cannot be followed */
	bool is_long; /* a comparison of more bytes than `arguments` hold (walk_compare.c) */
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

/* The result of a call, and whether it is known from the bytes that were looked at. */
struct library_answer {
	struct term *value, *is_known;
};

/* The condition, and the term of the result; false: they are not what they were in the run. */
bool library_answer(struct walker *walker, const struct code *call, const uint64_t *registers,
	const struct library_answer *answer);

/* walk_number.c: does the call read a number as it is computed here? */
bool walk_number_is_known(
	const struct walker *walker, const struct code *call, const uint64_t *registers);
void walk_number_answer(const struct builder *builder, const struct code *call,
	const uint64_t *registers, const struct library_walk *of, struct library_answer *answer);

/* walk_search.c: does the call look for the bytes of a second string? */
bool walk_search_is_one(const struct library_read *read);
/* False: they are too many, or nobody knows all of them. */
bool walk_search_measure(struct library_walk *of);
/* What is looked for is as it was. */
void walk_search_pin(
	const struct builder *builder, const struct code *call, const struct library_walk *of);
/* What comes of it at this byte, if it is not decided before. */
void walk_search_byte(const struct builder *builder, const struct code *call,
	const struct library_walk *of, uint32_t at, struct library_answer *answer);

/* walk_compare.c: long memory that is compared, word by word. Of what the arguments are, `out` has the addresses and the limit. */
bool walk_compare_is_long(const struct library_read *read, uint64_t limit);
enum step walk_compare_read(
	struct walker *walker, const struct code *call, struct library_walk *out);
void walk_compare_note(
	struct walker *walker, const struct code *call, const struct library_walk *of);
void walk_compare_terms(
	struct walker *walker, const struct code *call, const struct library_walk *of);
void walk_compare_result(struct walker *walker, const struct code *call, const uint64_t *registers,
	const struct library_walk *of);

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
