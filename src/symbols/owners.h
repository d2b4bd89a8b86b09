/*
 * Whom memory belongs to, and who works on it, by the debug information: the object that an address is
 * in, and the functions that are given pointers to objects of a kind. This is what atomic sets and units
 * of work are inferred from (analyses/atomic_sets.h).
 */
#ifndef RADDLE_SYMBOLS_OWNERS_H
#define RADDLE_SYMBOLS_OWNERS_H

#include "symbols/symbols.h"

#define OWNERS_TYPES_MAX 12

/* Strings live as long as the struct symbols. */
struct symbols_part {
	const char *type; /* of the object, where that is a struct: "struct account"; else NULL */
	const char *file; /* static data: the source file of its compilation unit; else NULL */
	const char *variable; /* static data: its name; else NULL */
	uint64_t start;	      /* of the object, or of the variable */
	char *place; /* the part in words, ".savings", "[3]"; owned by whoever asked, never NULL */
	bool is_constant;
	/* The object is of a type that only the C++ library itself knows of, and nothing of the user's is in it there. */
	bool is_of_library;
	bool is_lasting; /* static, or made before the first thread: it is there in every run */
	/* The structs on the way to the part, with their bases: whoever is given a pointer to one of
	 * them works on it. */
	const char *types[OWNERS_TYPES_MAX];
	uint32_t type_count;
};

/*
 * What an access is to. An object is the outermost struct there: an element of an array of structs is one
 * of its own. All accesses of the run should have been noted (symbols_note_access). False: not known.
 */
bool symbols_part_at(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct symbols_part *out);

/* A function. */
struct symbols_routine {
	uint64_t key; /* of an inlined function: of the place where it was inlined; of others 0 */
	const char *name; /* demangled */
	const char *file; /* the source file of its compilation unit */
	unsigned line;
	const char
		*types[OWNERS_TYPES_MAX]; /* structs that its parameters lead to; `this` is one */
	uint32_t type_count;
	bool is_system; /* not the user's code */
};

/*
 * The function at an address in its code, and those that were inlined into it there, outermost first. 0:
 * there is no debug information.
 */
unsigned symbols_routines_at(
	struct symbols *symbols, uint64_t address, struct symbols_routine *out, unsigned capacity);

/* Does the user's code have a function, or a struct ("account"), field ("account.checking") or static
 * variable of this name? */
bool symbols_has_function(struct symbols *symbols, const char *name);
bool symbols_has_part(struct symbols *symbols, const char *name);

/*
 * The zero-terminated strings of the sections of that name, in all modules, one after the other, until
 * `visit` says something else than 0, which is the result.
 */
typedef int symbols_visit_text(void *argument, const char *text, const char *module);
int symbols_each_text(
	struct symbols *symbols, const char *section, symbols_visit_text *visit, void *argument);

#endif
