/*
 * The program of a record: its bitcode, the mapping from sites to instructions, and the addresses
 * of its functions and variables in the run. The image is immutable while threads are walked,
 * except for addresses that are assigned on demand.
 */
#pragma once

#include <llvm-c/Core.h>
#include <stdint.h>

#include "base/error.h"
#include "bitcode/program.h"
#include "bitcode/value_map.h"
#include "branches/record/run_record.h"
#include "branches/decode/symbol_file.h"

#define SITE_NONE UINT32_MAX

/* A site of the program. Indexed by its number in the record. */
struct image_site {
	uint8_t kind;  /* enum site_kind */
	uint8_t order; /* same as in struct site_record */
	uint16_t bytes;
	uint32_t unit; /* compilation unit; UINT32_MAX: not found */
	uint32_t function_number, instruction_number;
	uint32_t next; /* next site of the same instruction in code order; SITE_NONE: last */
	const struct site *source;
	uint32_t file;
};

struct image {
	const struct run_record *record;
	struct program program;
	struct image_site *sites;
	uint32_t site_count;
	struct number_map first_site;	     /* LLVMValueRef of an instruction: its first site */
	struct number_map first_of_function; /* LLVMValueRef of a function: the site of its entry */
	struct symbol_file *files;
	uint32_t *unit_group;	/* symbol group of each unit in its file; 0: not found */
	uint32_t *unit_object;	/* index of each unit's object in the record */
	struct slots addresses; /* struct global_address */
	uint64_t next_made_up;	/* next address for a global that no symbol table contains */
	char **paths;
};

/* Opens an image. `program` is the path of the executable. The record must outlive the image. */
int image_open(struct image *image, const struct run_record *record, const char *program,
	struct error *err);
void image_close(struct image *image);

/* Returns the address in the run; an invented one for a private constant, which no symbol table
 * contains. */
uint64_t image_address(struct image *image, uint32_t unit, LLVMValueRef global);
