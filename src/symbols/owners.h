/* The object around an address, and functions with pointers to a type
 * (analyses/units/atomic_sets.h). */
#pragma once

#include "symbols/symbols.h"

#define OWNERS_TYPES_MAX 12

/* A part of an object or variable, such as a member. Strings live as long as the struct symbols,
 * except `location`. */
struct symbols_part {
	/* type of the object, if it is a struct: "struct account"; else NULL */
	const char *type;
	const char *file;     /* static data: the source file of its compilation unit; else NULL */
	const char *variable; /* static data: its name; else NULL */
	uint64_t start;	      /* start of the object, or of the variable */
	char *location; /* the part as text, ".savings", "[3]"; owned by the caller, never NULL */
	bool is_constant;
	/* A type internal to the C++ library, which contains nothing of the user. */
	bool is_of_library;
	bool is_lasting; /* static, or allocated before the first thread: exists in every run */
	/* The enclosing structs, with bases: functions with a pointer to one work on the part. */
	const char *types[OWNERS_TYPES_MAX];
	uint32_t type_count;
};

/* Finds the outermost struct that an access refers to; array elements are objects. Returns false if
 * unknown. Precondition: symbols_note_access() for all accesses. */
bool symbols_part_at(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct symbols_part *out);

struct symbols_routine {
	uint64_t key;	  /* location of the call of an inlined function; 0 for other functions */
	const char *name; /* demangled */
	const char *file; /* the source file of its compilation unit */
	unsigned line;
	/* structs reachable from its parameters, including `this` */
	const char *types[OWNERS_TYPES_MAX];
	uint32_t type_count;
	bool is_system; /* the user's code has no part in it */
};

/* Finds functions at an address, also inlined ones, outermost first. 0: no debug information. */
unsigned symbols_routines_at(
	struct symbols *symbols, uint64_t address, struct symbols_routine *out, unsigned capacity);

/* Return whether the user's code has this function; this struct, field ("account.checking") or
 * static variable. */
bool symbols_has_function(struct symbols *symbols, const char *name);
bool symbols_has_part(struct symbols *symbols, const char *name);

/* Calls `visit` until it returns nonzero, and returns that result. */
typedef int symbols_visit_text(void *argument, const char *text, const char *module);
int symbols_each_text(
	struct symbols *symbols, const char *section, symbols_visit_text *visit, void *argument);
