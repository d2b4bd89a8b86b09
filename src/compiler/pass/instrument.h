/*
 * The compiler pass of raddle. It finds the instructions of a module that access memory or
 * synchronise, and makes each of them a *site* (abi/instrument_abi.h). A site has three parts: a
 * no-op that can become a call of the runtime (in this folder: its *point*), a stub, and a record
 * in a table.
 *
 * The pass is written in C on the LLVM-C API; clang runs it as the last pass of its optimiser. All
 * state of a module is in a struct instrument, and clang processes one module at a time.
 *
 * collect.c      instructions that become sites
 * libc_calls.c   calls of C library functions that access memory
 * printf_calls.c strings that printf() and similar functions receive
 * atomic_calls.c calls of libatomic
 * assembly.c     memory operands of inline assembly
 * values.c       values that only a run can determine, for recorded runs
 * filter.c       accesses without a site, because no other thread can see the memory
 * locations.c       source positions of sites
 * fields.c       struct and field that a site accesses
 * points.c       the code of a site, its stub and its record
 * waits.c        reads of loops that only wait
 * loops.c        loops that get a copy without points
 * module.c       per module: registration, note, bitcode
 * versions.cpp   a second version of each function, without sites, for runs without raddle
 * pack.cpp       bitcode in a form that compresses well
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "abi/instrument_abi.h"
#include "base/starts_with.h"

/* Calls that write what the kernel or a stream delivers: only afterwards is the size known. */
enum site_behind {
	BEHIND_NOTHING, /* the point is before the instruction, as for all other kinds */
	BEHIND_BYTES,	/* the result is the number of bytes; negative: none */
	BEHIND_ITEMS,	/* the result is a number of items */
	BEHIND_STRING,	/* the result is the string that was written; NULL if none */
	BEHIND_OBJECT,	/* the result is the address of the written bytes; NULL if none */
	/* The result is the length of the string without truncation; negative: none */
	BEHIND_PRINTED
};

struct site {
	/* The point is before it, unless `before` or `behind` says otherwise */
	LLVMValueRef instruction;
	LLVMValueRef function;
	LLVMValueRef pointer; /* NULL means a kind without an address */
	/* ranges and strings; SITE_EXPECTED: the expected value; SITE_WAITS: what it waits for; else NULL */
	LLVMValueRef length;
	/* BEHIND_ITEMS: size of an item; BEHIND_OBJECT: number of bytes; BEHIND_PRINTED: size of the
	 * buffer, NULL if unlimited */
	LLVMValueRef items;
	LLVMValueRef value; /* kinds from SITE_RESULT on: the value to report, else NULL */
	/* SITE_CALLEE_NAMED: the function; SITE_HAS_NATIVE: a symbol at the native version; else NULL */
	LLVMValueRef callee;
	/* Instruction before which the point is placed; NULL: before the instruction, or see
	 * `behind` */
	LLVMValueRef before;
	uint8_t kind;	/* enum site_kind */
	uint8_t order;	/* same as in struct site_record */
	uint8_t behind; /* enum site_behind */
	uint16_t bytes;
	bool copies;  /* reads into a local whose address does not escape */
	bool follows; /* source or destination of a copy between other memory */
	/* SITE_CONTENTS and the argument number: a read whose bytes a recorded run stores; else 0 */
	uint8_t contents;
	uint32_t flags;
	uint32_t function_number;
	uint32_t instruction_number;
};

/* The two versions of a function (versions.cpp). */
struct version {
	LLVMValueRef function; /* with sites */
	LLVMValueRef native;
};

struct instrument {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMTargetDataRef layout;
	LLVMBuilderRef builder;
	LLVMTypeRef i32, i64, pointer, nothing;
	struct site *sites;
	size_t site_count;
	LLVMValueRef descriptions; /* global: struct site_unit with what follows it */
	LLVMTypeRef descriptions_type;
	struct version *versions; /* in the order of the module's functions */
	size_t version_count;
};

/* The sites of one function: a range of instrument->sites. */
struct sites {
	size_t first, end;
};

/* Returns the end of the sites that belong to the function of the site `first`. */
size_t sites_end_of_function(const struct instrument *instrument, size_t first);

/* Terminates the compiler with a message unless its LLVM version equals `built_for`. */
void instrument_check_version(unsigned built_for);
/* Runs before the optimiser: prevents optimisations that read memory which the source code does not
 * read. */
void instrument_mark(LLVMModuleRef module);
/* Entry point, run after the optimiser. Returns true if the module was changed. */
bool instrument_module(LLVMModuleRef module);

/* versions.cpp: adds the native version of a function. Returns NULL if the function cannot be copied. */
LLVMValueRef instrument_add_native(LLVMValueRef function);
/* Returns a symbol at the address of the native version. */
LLVMValueRef instrument_native_address(LLVMValueRef native);
/* Gives the native version the name and the address of the function; run after points are inserted. */
void instrument_name_versions(LLVMValueRef function, LLVMValueRef native);

/* Appends the sites of a function, in the order of its instructions. `native`: its native version, or
 * NULL if it has none. */
void collect_sites(struct instrument *instrument, LLVMValueRef function, LLVMValueRef native,
	uint32_t function_number);

/* values.c: appends the value sites at the start of a function, after its entry site. */
void collect_arguments(struct instrument *instrument, const struct site *entry);
/*
 * Appends the value sites of an instruction. `entry`: the position after the entry block's allocas.
 */
void collect_values(struct instrument *instrument, const struct site *site, LLVMValueRef entry);
/* Returns whether code without bitcode may call the function. */
bool is_called_from_outside(LLVMValueRef function);
/* Puts SITE_FUNCTION_MARK in front of the function's code if its result can be recomputed. */
void mark_function(struct instrument *instrument, LLVMValueRef function);
/* entry.cpp: returns whether the compiler treats calls of this function as builtin and may replace
 * them. */
bool instrument_is_builtin(const char *triple, const char *name);
/* Returns the module as bitcode, with line tables as its only debug information. */
LLVMMemoryBufferRef instrument_write_bitcode(LLVMModuleRef module);
/* pack.cpp: returns the bitcode in the form of abi/packed_bitcode.h. */
LLVMMemoryBufferRef instrument_pack_bitcode(LLVMMemoryBufferRef bitcode);

void add_site(struct instrument *instrument, const struct site *site);
/* Returns the size of a value of the type in memory, at most UINT16_MAX. */
uint16_t type_bytes(const struct instrument *instrument, LLVMTypeRef type);
/* Adds a fence for assembly with mfence, or with a locked instruction on memory that it does not name. */
void collect_assembly_fence(struct instrument *instrument, const struct site *site);
void collect_assembly(struct instrument *instrument, const struct site *site);
bool assembly_names_memory(LLVMValueRef call);
/* Appends the site of a call of libatomic; false: the call is no such call. */
bool collect_atomic_call(struct instrument *instrument, const struct site *site);
/* Appends the sites of a call of a C library function that accesses memory. */
void collect_library_call(struct instrument *instrument, const struct site *site);

/* Returns whether the pointer may lead into a thread-local variable. LLVM may replace a phi or select of such
 * addresses by one of them after the pass. */
bool filter_is_thread_local(LLVMValueRef pointer);

bool filter_skips(LLVMValueRef pointer, bool is_write);
/* Appends the sites of the strings that printf() or a similar function reads, if its format is
 * constant. */
void collect_printf_call(struct instrument *instrument, const struct site *site);

/* Returns whether the address of this local does not escape: only visible accesses use it. */
bool filter_is_private(LLVMValueRef allocation);
/* The same for a va_list, which va_start() and similar intrinsics may also receive. */
bool filter_is_private_list(LLVMValueRef allocation);
/* Returns the name of the called function; returns NULL for an indirect call. */
const char *called_name(LLVMValueRef call);

struct field_types *field_types_new(struct instrument *instrument);
void field_types_free(struct field_types *types);
/*
 * Finds type and field ("pos.x"; "+8": unnamed) of an access, and sets the flag of bit-fields.
 * Returns false if the access is not inside a struct.
 */
bool site_field(const struct field_types *types, struct site *site, char *type, size_t type_size,
	char *field, size_t field_size);

/* Creates the descriptions of all sites. */
void describe_sites(struct instrument *instrument);
/* Returns the address of the site's byte in the descriptions as a constant. */
LLVMValueRef site_description(const struct instrument *instrument, size_t index);
/* Copies the source position of `of` to code that is placed before it. */
void copy_location(LLVMValueRef to, LLVMValueRef of, LLVMValueRef function);

void insert_points(struct instrument *instrument);
/* Returns the instruction before which the point after a call is placed; returns NULL if no such
 * position exists. */
LLVMValueRef location_behind(LLVMValueRef call);
bool has_one_predecessor(LLVMBasicBlockRef block);

/* Ensures that such a position exists after every invoke. */
void split_invokes(struct instrument *instrument);

/* Expands va_list operations inside the function, where their memory accesses become visible. */
void lower_lists(struct instrument *instrument);

/* Marks the reads of waiting loops; run before sites are described. */
void find_waits(struct instrument *instrument);

/* loops.h: run after sites are collected and described, before their points are inserted. */
void split_loops(struct instrument *instrument);

/* labels.c: run first. */
void lower_gotos(struct instrument *instrument);

/* Embeds the module's bitcode into the object file; run before points are inserted. */
void embed_bitcode(struct instrument *instrument);
void insert_registration(struct instrument *instrument);
/* Protects the global against removal by the optimiser and the linker. */
/* Compresses into one frame with a checksum, which the caller frees. Returns its size. */
size_t compress_bytes(const void *plain, size_t size, unsigned char **stored);
void keep_global(struct instrument *instrument, LLVMValueRef global);

/* Returns the value that a phi has for the way from `block`; NULL: there is no such way. */
static inline LLVMValueRef incoming_from(LLVMValueRef phi, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
		if (LLVMGetIncomingBlock(phi, i) == block)
			return LLVMGetIncomingValue(phi, i);
	return NULL;
}

static inline bool has_block(
	const LLVMBasicBlockRef *blocks, unsigned count, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < count; i++)
		if (blocks[i] == block)
			return true;
	return false;
}
