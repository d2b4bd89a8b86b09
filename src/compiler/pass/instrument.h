/*
 * The compiler's part of raddle: finds the places of a module that access memory, and makes each of
 * them a site as abi/instrument_abi.h says. C on the LLVM-C API, run by clang as the last pass of
 * its optimiser. Everything of one module lives in a struct instrument; clang runs one at a time.
 *
 *	collect.c	instructions that become sites
 *	libc_calls.c	calls of the C library that access memory
 *	printf_calls.c	strings that printf and the like are given
 *	atomic_calls.c	calls of libatomic
 *	assembly.c	memory that inline assembly names
 *	values.c	values that only a run can tell
 *	filter.c	accesses that need none: nobody else can see the memory
 *	places.c	what is told of a site: where it is
 *	fields.c	which struct and field it accesses
 *	points.c	the code of a site, its stub and its record
 *	loops.c	loops of which there is a copy without points
 *	module.c	what a module has once: registration, note, bitcode
 */
#ifndef RADDLE_COMPILER_PASS_INSTRUMENT_H
#define RADDLE_COMPILER_PASS_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "abi/instrument_abi.h"

/* Calls that write what the kernel or a stream gives them: their points lie behind them, where it is
 * known how much that was, and what the call has waited for has happened. */
enum site_behind {
	BEHIND_NOTHING, /* the point is before the instruction, as all others */
	BEHIND_BYTES,	/* the result is the number of bytes; negative: none */
	BEHIND_ITEMS,	/* the result is a number of items */
	BEHIND_STRING,	/* the result is the string that was written; NULL: none */
	BEHIND_PRINTED	/* the result is the string's length, had there been room; negative: none */
};

struct site {
	LLVMValueRef instruction; /* the point lies before it */
	LLVMValueRef function;
	LLVMValueRef pointer; /* NULL: kinds without an address */
	LLVMValueRef length;  /* ranges and strings; SITE_EXPECTED: the expected value; else NULL */
	LLVMValueRef
		items; /* BEHIND_ITEMS: the bytes of one; BEHIND_PRINTED: the room, NULL: enough */
	LLVMValueRef value;  /* SITE_RESULT and those behind it: what is told, else NULL */
	LLVMValueRef callee; /* SITE_CALLEE_NAMED: the function; else NULL */
	LLVMValueRef
		before; /* where the point goes; NULL: before the instruction, or see `behind` */
	uint8_t kind;	/* enum site_kind */
	uint8_t order;	/* as in struct site_record */
	uint8_t behind; /* enum site_behind */
	uint16_t bytes;
	bool copies;  /* reads what goes to a local that nobody else knows */
	bool follows; /* an end of a copy between other memory */
	uint8_t tells; /* SITE_TOLD, and of which argument: reads whose bytes a recorded run keeps; else 0 */
	uint32_t flags;
	uint32_t function_number;
	uint32_t instruction_number;
};

struct instrument {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMTargetDataRef layout;
	LLVMBuilderRef builder;
	LLVMTypeRef i16, i32, i64, pointer, nothing;
	struct site *sites;
	size_t site_count, site_capacity;
	struct string_table *strings; /* places.c */
	LLVMValueRef descriptions;    /* the array of struct site_info */
	LLVMTypeRef descriptions_type;
};

/* Ends the compiler with one line if it is not of the version that this was built for. */
void instrument_check_version(unsigned built_for);
/* Before the optimisations: keeps them from reading memory that the source does not read. */
void instrument_mark(LLVMModuleRef module);
/* The entry point, behind them; true: the module was changed. */
bool instrument_module(LLVMModuleRef module);

/* Appends the sites of a function, in the order of its instructions. */
void collect_sites(struct instrument *instrument, LLVMValueRef function, uint32_t function_number);

/* values.c: the sites at the beginning of a function, behind its entry, */
void collect_arguments(struct instrument *instrument, const struct site *entry);
/* and those of an instruction. `entry` is the place behind the allocas of the function's entry block. */
void collect_values(struct instrument *instrument, const struct site *site, LLVMValueRef entry);
/* May code without bitcode call it? */
bool is_called_from_outside(LLVMValueRef function);
/* Says in front of the function's code that what it returns can be recomputed, if so. */
void mark_function(struct instrument *instrument, LLVMValueRef function);
/* entry.cpp: may the compiler know the function by its name, and make other code of a call? */
bool instrument_is_builtin(const char *triple, const char *name);

void add_site(struct instrument *instrument, const struct site *site);
/* What a value of the type takes in memory, at most UINT16_MAX. */
uint16_t type_bytes(const struct instrument *instrument, LLVMTypeRef type);
/* The sites of memory that a piece of inline assembly has for operands. */
void collect_assembly(struct instrument *instrument, const struct site *site);
/* Has it any? */
bool assembly_names_memory(LLVMValueRef call);
/* The site of a call of libatomic; false: it is none. */
bool collect_atomic_call(struct instrument *instrument, const struct site *site);
/* The sites of a call, where it is one of the C library's. */
void collect_library_call(struct instrument *instrument, const struct site *site);

/* Is it into thread-local memory, by the variable's own name? */
bool filter_is_thread_local(LLVMValueRef pointer);

/* Can no other thread see what this access does? */
bool filter_skips(LLVMValueRef pointer, bool is_write);
/* The strings that a call of printf() or the like reads, where its format is known. */
void collect_printf_call(struct instrument *instrument, const struct site *site);

/* Is it a local whose address only meets accesses that can be seen to be its own? */
bool filter_is_private(LLVMValueRef allocation);
/* Likewise, of a list of arguments, which va_start() and its like are given, too. */
bool filter_is_private_list(LLVMValueRef allocation);
/* The name of the function that is called; NULL: not known. */
const char *called_name(LLVMValueRef call);

/* The structs that the module's debug information tells of. */
struct field_types *field_types_new(struct instrument *instrument);
void field_types_free(struct field_types *types);
/* Type and field ("pos.x", or "+8" where it has no name) of an access, and whether it is a bit-field
 * (added to its flags); false: it goes into no struct. */
bool site_field(const struct field_types *types, struct site *site, char *type, size_t type_size,
	char *field, size_t field_size);

/* Makes the array of site_info, one for each site. */
void describe_sites(struct instrument *instrument);
/* Address of the site_info of a site, as a constant. */
LLVMValueRef site_description(const struct instrument *instrument, size_t index);
/* The place of `of` for code that is put before it. */
void copy_place(LLVMValueRef to, LLVMValueRef of, LLVMValueRef function);

void insert_points(struct instrument *instrument);
/* Where the point of a site behind its call goes: before this instruction; NULL: there is no such place. */
LLVMValueRef place_behind(LLVMValueRef call);
bool has_one_way_in(LLVMBasicBlockRef block);

/* Makes sure that there is a place behind every invoke. */
void split_invokes(struct instrument *instrument);

/* Has lists of arguments filled in where that is seen. */
void lower_lists(struct instrument *instrument);

/* loops.h: behind collecting and describing the sites, before their points are put there. */
void split_loops(struct instrument *instrument);

/* labels.c: before anything else. */
void lower_gotos(struct instrument *instrument);

/* Before points are put there: the module's own bitcode goes into its object file. */
void embed_bitcode(struct instrument *instrument);
void insert_registration(struct instrument *instrument);
/* Keeps the global through optimisation and linking. */
void keep_global(struct instrument *instrument, LLVMValueRef global);

#endif
