/*
 * The parsed bitcode of a program: all units of all its files. A unit's number is its location in the
 * linker's order.
 */
#pragma once

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/tables/site_table.h"

struct unit {
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	uint32_t file;		 /* number of the file that contains the unit */
	LLVMValueRef *functions; /* defined functions in order; index: site.function_number */
	uint32_t function_count;
	LLVMValueRef *instructions; /* instructions of all functions */
	uint32_t *
		first_instruction; /* index in instructions[] of each function's first instruction, with an additional final entry */
};

struct program_file {
	const char *path;
	struct site_table *sites;
	/* Names in the dynamic symbol table: foreign code may call or write these. */
	char **exports;
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

/* Returns the n-th instruction of a function of the unit; NULL if out of range. */
LLVMValueRef program_instruction(
	const struct unit *unit, uint32_t function_number, uint32_t instruction_number);

/* Returns whether the function has the name, or is an optimiser's copy such as
 * "find.specialized.1". */
bool program_is_named(LLVMValueRef function, const char *name);
