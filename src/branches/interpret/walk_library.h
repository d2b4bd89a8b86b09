/*
 * Library functions that compare, measure, search and copy bytes (decode_library.c). The record
 * reports the bytes that they read. If one of the bytes is symbolic, so is the result.
 */
#ifndef RADDLE_BRANCHES_INTERPRET_WALK_LIBRARY_H
#define RADDLE_BRANCHES_INTERPRET_WALK_LIBRARY_H

#include "branches/interpret/walk_internal.h"
#include "abi/instrument_abi.h"

/* The bytes that an argument points to. */
struct library_bytes {
	uint64_t address;
	uint32_t count;	 /* number of known bytes */
	uint32_t extent; /* number of bytes including the rest of the last word after the end */
	bool is_exact;	 /* no other thread writes there, so the end of the string is fixed */
	uint8_t bytes[SITE_TOLD_MOST + 8];
	uint32_t looked;			/* number of bytes that are modelled */
	struct term *terms[SITE_TOLD_MOST + 8]; /* terms of these bytes */
	/* Condition under which each term is valid; NULL: always */
	struct term *whens[SITE_TOLD_MOST + 8];
};

struct library_walk {
	struct library_bytes arguments[2];
	uint64_t limit;		 /* maximum number of bytes that the function examines */
	uint32_t count;		 /* number of bytes modelled in both arguments */
	struct term *limit_term; /* NULL: constant or pinned */
	uint64_t first;		 /* index of the call's first event */
	uint64_t to;		 /* destination of a written string */
	uint32_t written;	 /* number of bytes written */
	bool is_unknown;	 /* the call cannot be modelled */
	bool is_long; /* a comparison of more bytes than `arguments` hold (walk_compare.c) */
};

/* Context for building the terms of a call's result. */
struct builder {
	struct walker *walker;
	struct term_arena *arena;
	uint32_t width; /* of the result, in bits */
};

struct term *library_compare(
	const struct builder *builder, uint8_t predicate, struct term *a, struct term *b);
struct term *library_choose(
	const struct builder *builder, struct term *condition, struct term *yes, struct term *no);
struct term *library_number(const struct builder *builder, uint64_t value);

/* The result of a call, and the condition under which the modelled bytes determine it. */
struct library_answer {
	struct term *value, *is_known;
};

/* Pins the condition and sets the result's term. Returns false if the answer contradicts the run. */
bool library_answer(struct walker *walker, const struct code *call, const uint64_t *registers,
	const struct library_answer *answer);

/* walk_number.c: returns whether the call parses a number in a way that is modelled. */
bool walk_number_is_known(
	const struct walker *walker, const struct code *call, const uint64_t *registers);
void walk_number_answer(const struct builder *builder, const struct code *call,
	const uint64_t *registers, const struct library_walk *of, struct library_answer *answer);

/* walk_search.c: returns whether the call searches for the bytes of a second string. */
bool walk_search_is_one(const struct library_read *read);
/* Limits the modelled bytes. Returns false if they are too many or not all known. */
bool walk_search_measure(struct library_walk *of);
/* Pins the string that is searched for. */
void walk_search_pin(
	const struct builder *builder, const struct code *call, const struct library_walk *of);
/* Extends the answer by the byte `at`, given that no earlier byte decides it. */
void walk_search_byte(const struct builder *builder, const struct code *call,
	const struct library_walk *of, uint32_t at, struct library_answer *answer);

/* walk_compare.c: comparisons of long memory, word by word. `out` receives the addresses and the limit only. */
bool walk_compare_is_long(const struct library_read *read, uint64_t limit);
enum step walk_compare_read(
	struct walker *walker, const struct code *call, struct library_walk *out);
void walk_compare_note(
	struct walker *walker, const struct code *call, const struct library_walk *of);
void walk_compare_terms(
	struct walker *walker, const struct code *call, const struct library_walk *of);
void walk_compare_result(struct walker *walker, const struct code *call, const uint64_t *registers,
	const struct library_walk *of);

/* Takes the bytes that the call reads from the record. */
enum step walk_library_read(struct walker *walker, const struct code *call,
	const uint64_t *registers, struct library_walk *out);
/* walk_string.c: determines destination and length of a copy. Returns false if unknown. */
bool walk_string_measure(
	const struct code *call, const uint64_t *registers, struct library_walk *of);
/* Writes the string, and sets the term of the result. */
void walk_string_write(struct walker *walker, const struct code *call, struct library_walk *of);
/* Sets the term of the result, after the call has returned. */
void walk_library_result(struct walker *walker, const struct code *call, const uint64_t *registers,
	struct library_walk *of);

#endif
