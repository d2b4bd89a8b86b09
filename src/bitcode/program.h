/*
 * The bitcode of a program: all units of its files, parsed. Nothing here knows what is asked of it.
 * A unit is numbered in the order in which the linker took it.
 */
#ifndef RADDLE_BITCODE_PROGRAM_H
#define RADDLE_BITCODE_PROGRAM_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/site_table.h"

struct unit {
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	uint32_t file;		 /* number of the file that it is part of */
	LLVMValueRef *functions; /* the defined ones, in order: site.function_number */
	uint32_t function_count;
	LLVMValueRef *instructions; /* of all of them */
	uint32_t *
		first_instruction; /* in instructions[], of each function and of one behind the last */
};

struct program_file {
	const char *path;
	struct site_table *sites;
	char **exports; /* what its dynamic symbol table defines: others' code may call or write it */
	uint32_t export_count;
};

struct program {
	LLVMContextRef context;
	struct program_file *files;
	struct unit *units;
	uint32_t file_count, unit_count;
};

int program_load(
	struct program *program, const char *const *paths, uint32_t path_count, struct error *err);
void program_release(struct program *program);

/* The n-th instruction of a function of the unit; NULL: it has not so many. */
LLVMValueRef program_instruction(
	const struct unit *unit, uint32_t function_number, uint32_t instruction_number);

/* Is it the function of that name, or what the optimiser has made of it ("find.specialized.1")? */
bool program_is_named(LLVMValueRef function, const char *name);

#endif
