/*
 * The program of a record: its bitcode, which site belongs to which instruction, and where its functions
 * and variables were. Everything that walking needs and that is the same for all threads.
 */
#ifndef RADDLE_BRANCHES_INTERPRET_IMAGE_H
#define RADDLE_BRANCHES_INTERPRET_IMAGE_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "base/error.h"
#include "bitcode/program.h"
#include "bitcode/value_map.h"
#include "branches/record/run_record.h"
#include "branches/interpret/symbol_file.h"

#define SITE_NONE UINT32_MAX

/* A site of any module, by its number in the record. */
struct image_site {
	uint8_t kind;  /* enum site_kind */
	uint8_t order; /* as in struct site_record */
	uint16_t bytes;
	uint32_t unit; /* UINT32_MAX: its unit is not known */
	uint32_t function_number, instruction_number;
	uint32_t
		next; /* another one of the same instruction, in the order of the code; SITE_NONE */
	const struct site *source;
	uint32_t file;
};

struct image {
	const struct run_record *record;
	struct program program;
	struct image_site *sites;
	uint32_t site_count;
	struct value_map first_site;	    /* LLVMValueRef of an instruction: its first site */
	struct value_map first_of_function; /* LLVMValueRef of a function: the site of its entry */
	struct symbol_file *files;	    /* one for each object of the record */
	uint32_t *unit_group;		    /* of each unit, in its file; 0: not found */
	uint32_t *unit_object;		    /* of each unit: number of the object */
	struct value_map address_of;	    /* LLVMValueRef of a global: index in addresses */
	uint64_t *addresses;
	uint32_t address_count, address_capacity;
	uint64_t next_made_up;	/* address of the next global that has none in the files */
	uint32_t made_up_count; /* of globals that other code may know by another */
	char **paths;		/* of the files with sites */
};

/* `program` is the path of the executable. The record must outlive the image. */
int image_open(struct image *image, const struct run_record *record, const char *program,
	struct error *err);
void image_close(struct image *image);

/* Where a global value was; private constants have addresses that are made up. */
uint64_t image_address(struct image *image, uint32_t unit, LLVMValueRef global);

#endif
