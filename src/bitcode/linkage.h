/*
 * Symbols of the program as the linker resolves them: units that use one name refer to one
 * *symbol*, a global variable or function. Local ones are symbols of their own.
 */
#pragma once

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "bitcode/flow/flow.h"
#include "bitcode/program.h"
#include "bitcode/value_map.h"

/* A body of a function. Inline functions have one in each unit that uses them. */
struct definition {
	LLVMValueRef function;
	uint32_t unit;
	uint32_t returns;   /* node: possible return values */
	uint32_t arguments; /* node: the variadic arguments, and their memory */
};

struct symbol {
	const char *name; /* NULL means a local without a name */
	LLVMValueRef value;
	uint32_t unit; /* unit of `value` */
	uint32_t object;
	bool is_defined;
	struct definition *definitions; /* bodies, of functions */
	uint32_t definition_count;
};

struct linkage {
	struct symbol *symbols;
	uint32_t count;
	struct number_map by_value;  /* LLVMValueRef of any unit to symbol */
	struct number_map by_object; /* object + 1, as an address, to symbol */
	uint32_t *by_name;	     /* hash table with open addressing */
	uint32_t name_capacity;
};

void linkage_build(struct linkage *linkage, const struct program *program, struct flow *flow);
void linkage_release(struct linkage *linkage);

/* Returns the symbol of a global value, also through aliases; NULL if there is none (an ifunc). */
struct symbol *linkage_symbol(const struct linkage *linkage, LLVMValueRef global);
/* Returns the symbol of an object; NULL if the object is no global. */
struct symbol *linkage_of_object(const struct linkage *linkage, uint32_t object);
struct symbol *linkage_named(const struct linkage *linkage, const char *name);
