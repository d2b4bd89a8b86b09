/*
 * What the units of a program call by one name is one thing: as the linker has it. A *symbol* is a
 * global variable or function; local ones are symbols of their own.
 */
#ifndef RADDLE_BITCODE_LINKAGE_H
#define RADDLE_BITCODE_LINKAGE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "bitcode/flow.h"
#include "bitcode/program.h"
#include "bitcode/value_map.h"

/* A body of a function: inline functions have one in each unit that uses them. */
struct definition {
	LLVMValueRef function;
	uint32_t unit;
	uint32_t returns;   /* node: what it may return */
	uint32_t arguments; /* node: what "..." may be; and where it lies, in a variadic function */
};

struct symbol {
	const char *name; /* NULL: local, and has none */
	LLVMValueRef value;
	uint32_t unit; /* of the value */
	uint32_t object;
	bool is_defined;
	struct definition *definitions; /* of functions */
	uint32_t definition_count;
};

struct linkage {
	struct symbol *symbols;
	uint32_t count, capacity;
	struct value_map by_value;  /* LLVMValueRef of any unit: symbol */
	struct value_map by_object; /* object + 1 as an address: symbol */
	uint32_t *by_name;	    /* open addressing */
	uint32_t name_capacity;
};

/* Objects and the nodes of functions are made in `flow`. */
void linkage_build(struct linkage *linkage, const struct program *program, struct flow *flow);
void linkage_release(struct linkage *linkage);

/* Of a global value, through aliases; NULL: it is none (an ifunc). */
struct symbol *linkage_symbol(const struct linkage *linkage, LLVMValueRef global);
/* Of an object; NULL: it is no global. */
struct symbol *linkage_of_object(const struct linkage *linkage, uint32_t object);
struct symbol *linkage_named(const struct linkage *linkage, const char *name);

#endif
