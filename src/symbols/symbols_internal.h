/* What the files of this folder share: the open layout, kept strings, modules and DWARF odds. */
#ifndef RADDLE_SYMBOLS_SYMBOLS_INTERNAL_H
#define RADDLE_SYMBOLS_SYMBOLS_INTERNAL_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stddef.h>

#include "symbols/symbols.h"

struct lookup;	       /* lookup.c: what was found for an address */
struct unit_index;     /* units.c: the compilation units of a module */
struct variable_index; /* static_data.c: the variables of a module */
struct type_index;     /* type_names.c: the structs of a module */
struct point_index;    /* points.c: the sites of a module that raddle-cc made */

/* DWARF numbers of the x86-64 registers (System V ABI, figure 3.36). */
enum {
	REGISTER_RBX = 3,
	REGISTER_RBP = 6,
	REGISTER_RSP = 7,
	REGISTER_R12 = 12,
	REGISTER_RETURN = 16,
	REGISTER_COUNT
};

/* A call on a stack that is walked. */
struct stack_frame {
	uint64_t address; /* as in symbols_unwind() */
	uint64_t registers[REGISTER_RETURN];
	uint32_t known; /* bit: this register is */
};

/* What is kept of a process while one of its stacks is walked; unwind.c. */
struct unwind {
	pid_t pid;
	uint64_t stack_pointer, thread_base;
	uint64_t page_start; /* of the page in `page`; 1: none */
	unsigned char page[4096];
	uint64_t *addresses; /* results, where not NULL */
	struct stack_frame *frames;
	unsigned count, capacity;
	uint64_t last_frame; /* canonical frame addresses only grow on a sound stack */
};

struct symbols {
	Dwfl *dwfl;
	char *working_folder;		  /* where files are shown relative to; ends with a slash */
	struct kept_text *texts;	  /* every string that was handed out */
	struct lookup *lookups;		  /* uthash by address */
	struct unit_index *units;	  /* uthash by module */
	struct variable_index *variables; /* uthash by module */
	struct type_index *types;	  /* uthash by module */
	struct point_index *points;	  /* uthash by module */
	struct block_index *blocks;	  /* blocks.c: of the run asked for last; NULL: none */
	struct source_text *source_texts; /* uthash by file and line */
	struct numbered_modules *numbers; /* thread_locals.c; NULL: not yet asked for */
	bool is_attached;		  /* dwfl has the callbacks of unwind.c */
	struct unwind unwind;
};

/* A copy that lives as long as `symbols`; NULL for NULL. */
const char *symbols_keep(struct symbols *symbols, const char *text);

/* Base name of the module's file. */
const char *symbols_module_name(Dwfl_Module *module);
/* The module whose own data or code is at the address; NULL: none. */
Dwfl_Module *symbols_data_module(struct symbols *symbols, uint64_t address);
uint64_t symbols_module_start(Dwfl_Module *module);
bool symbols_module_is_system(Dwfl_Module *module);
/* A header of the C++ library or of the compiler. */
bool symbols_is_system_file(const char *file);

/* The mangled name of a DIE, also through its origin. NULL: it has none, as everything static. */
const char *symbols_die_linkage_name(Dwarf_Die *die);
/* A path as it is shown: absolute, without . and .., relative to the working folder where under it.
 */
const char *symbols_shown_path(struct symbols *symbols, const char *folder, const char *path);
/* The file of a DIE's DW_AT_decl_file or DW_AT_call_file as it is shown; NULL: none. */
const char *symbols_die_file(
	struct symbols *symbols, Dwarf_Die *unit, Dwarf_Die *die, int attribute);
unsigned symbols_die_number(Dwarf_Die *die, int attribute);

/* The unit whose code the address is in; false: none. The module's bias is dwfl_module_getdwarf's. */
bool symbols_unit_at(
	struct symbols *symbols, Dwfl_Module *module, uint64_t address, Dwarf_Die *unit);

/* ---- types.c ---- */

/* The type of a variable or member, through typedefs and qualifiers; false: it has none. */
bool types_of(Dwarf_Die *die, Dwarf_Die *type);
/* In bytes; 0: not known, as of a declared struct. */
uint64_t types_size(Dwarf_Die *type);
/*
 * Adds "[1].lock" for a place in something of this type. `bytes` of the access tell members of a
 * union apart, and a struct from its first member; 0: not known.
 */
void types_describe_inside(Dwarf_Die *type, uint64_t offset, uint64_t bytes, struct strbuf *out);
/* The same, visiting the structs on the way, outermost first. True: the place is declared constant. */
struct types_path {
	Dwarf_Die *type;
	uint64_t offset, bytes;
	struct strbuf *out;
};
typedef void types_visit(Dwarf_Die *type, void *argument);
bool types_follow(struct types_path *path, types_visit *visit, void *argument);
/* A member's type, and where the member begins. */
bool types_member(Dwarf_Die *type, const char *name, Dwarf_Die *member_type, uint64_t *place);
/* The first type among the arguments of a template. */
bool types_argument(Dwarf_Die *type, Dwarf_Die *argument);
/* A struct, class or union. */
bool types_is_struct(Dwarf_Die *type);
/* A name that C and C++ keep for their libraries. */
bool types_is_reserved(const char *name);
/* Is a variable or member declared const, or an array of what is? */
bool types_is_constant(Dwarf_Die *die);
/* Could an access of so many bytes be about something that begins at this offset in the type? */
bool types_fits(Dwarf_Die *type, uint64_t offset, uint64_t bytes);
/* Is the place in the type the field that the compiler named? NULL: any that fits. */
bool types_is_field(Dwarf_Die *type, uint64_t offset, uint64_t bytes, const char *field);
/* As in a declaration of its language: "struct account", "Account"; NULL: it has no name. */
const char *types_name(struct symbols *symbols, Dwarf_Die *type);
/* A complete struct, class or union of the module: "struct account", "bank::Account". */
bool types_named(struct symbols *symbols, Dwfl_Module *module, const char *name, Dwarf_Die *type);

/* ---- static_data.c ---- */

struct variable_place {
	uint64_t place; /* an address; with is_thread_local a distance in the module's block */
	uint64_t bytes; /* of the access; 0: not known */
	bool is_thread_local;
	bool is_brief; /* without the place of declaration */
};

/* A variable at a fixed address that has debug information: where it begins, and what it is. */
struct variable_found {
	Dwarf_Die die, unit;
	uint64_t start;
	const char *scope; /* "bank::teller::", or NULL where a mangled name says it */
};
bool variables_find(struct symbols *symbols, uint64_t address, struct variable_found *out);
/* A variable that has debug information, with the place where it is declared. */
bool variables_describe(struct symbols *symbols, Dwfl_Module *module,
	const struct variable_place *place, struct strbuf *out);
/* Static data, also of a symbol without debug information. */
bool static_data_describe(
	struct symbols *symbols, const struct variable_place *place, struct strbuf *out);

/* ---- points.c ---- */

/* What raddle-cc said of the site at this code address; NULL: there is none. Lives as long as symbols. */
struct site;
const struct site *points_at(struct symbols *symbols, uint64_t address);

/* ---- unwind.c ---- */

/* As symbols_unwind(), with the registers of each call. */
unsigned unwind_frames(struct symbols *symbols, pid_t pid, uint64_t stack_pointer,
	struct stack_frame *frames, unsigned capacity);
/* A word of a process that stands still; false: there is none. */
bool unwind_read_memory(pid_t pid, uint64_t address, void *to, size_t size);
bool unwind_read(struct symbols *symbols, pid_t pid, uint64_t address, uint64_t *value);

/* ---- lookup.c ---- */

/* Functions around an address, outermost first; the others of a chain were inlined into the first. */
#define CHAIN_MAX 16
struct chain {
	Dwarf_Die functions[CHAIN_MAX];
	unsigned count;
};

/* `address` without the module's bias. */
void chain_find(Dwarf_Die *unit, Dwarf_Addr address, struct chain *chain);

/* ---- locals.c ---- */

/*
 * Visits the variables and parameters that the functions around a code address have, innermost
 * first, until one says true: whether any did. `function` is the one they stand in, `outermost`
 * the one that has a frame; `address` is that of the code without the module's bias.
 */
struct local {
	Dwarf_Die variable, function, outermost;
	Dwarf_Addr address;
};
typedef bool locals_visit(struct symbols *symbols, struct local *local, void *argument);
bool locals_each(struct symbols *symbols, uint64_t address, locals_visit *visit, void *argument);
struct local_place {
	pid_t pid;
	uint64_t stack_pointer; /* of the thread, which stands still */
	uint64_t address, bytes;
	bool is_standing; /* the thread has not moved since the access */
	bool is_brief;	  /* give the name only */
	/* Size of the object at the address. Unless 0, only a variable with a part of this size matches, in any call. */
	uint64_t object_bytes;
};
/*
 * "local 'done' of main". Of a thread that has moved since the access, only its first call is sure
 * to be the same: where inner ones lay, others may lie now.
 */
bool locals_describe(struct symbols *symbols, const struct local_place *place, struct strbuf *out);

/* ---- blocks.c ---- */

/* The block that held the address at that step, else the one that did last; NULL: none. */
const struct memory_block *blocks_at(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access);
/* What the block is, as far as accesses have told; false: nothing is known. */
bool blocks_type(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, Dwarf_Die *type);
void blocks_describe(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, const struct symbols_access *access, struct strbuf *out);

/* ---- source_text.c ---- */

/* The statement at a line of the program's source; NULL: it cannot be read, or is newer than the program. */
const char *source_statement(
	struct symbols *symbols, Dwfl_Module *module, const char *file, unsigned line);
/* Likewise of a code address; not a return address. */
const char *source_statement_at(struct symbols *symbols, uint64_t code);
/* The text behind the next occurrence of a word from `at` on, in the text that begins at `start`; NULL: none. */
const char *source_find_word(const char *at, const char *word, const char *start);
/* Is the byte part of a word of C? */
bool source_is_word(char byte);

/* ---- allocations.c ---- */

/* The type that the code around the allocation gives, if it fits the block: its name. NULL: none. */
const char *allocation_type(struct symbols *symbols, const struct memory_block *block,
	bool (*fits)(const struct memory_block *block, Dwarf_Die *type), Dwarf_Die *type);

/* ---- thread_locals.c ---- */

/* A thread-local variable in the thread with this base. */
bool thread_locals_describe(struct symbols *symbols, pid_t pid, uint64_t thread_base,
	const struct variable_place *access, struct strbuf *out);

void symbols_forget_units(struct symbols *symbols);
void symbols_forget_lookups(struct symbols *symbols);
void symbols_forget_variables(struct symbols *symbols);
void symbols_forget_types(struct symbols *symbols);
void symbols_forget_points(struct symbols *symbols);
void symbols_forget_blocks(struct symbols *symbols);
void symbols_forget_source_texts(struct symbols *symbols);

#endif
