/* The open layout, stored strings, modules and small DWARF functions. */
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stddef.h>

#include "symbols/symbols.h"

struct lookup;	       /* lookup.c: cached result for an address */
struct unit_index;     /* units.c: the compilation units of a module */
struct function_index; /* functions.c: the functions of a compilation unit */
struct variable_index; /* static_data.c: the variables of a module */
struct type_index;     /* type_names.c: the structs of a module */
struct point_index;    /* points.c: the sites of a module built by raddle-cc */

/* DWARF numbers of the x86-64 registers (System V ABI, figure 3.36). */
enum {
	REGISTER_RBX = 3,
	REGISTER_RBP = 6,
	REGISTER_RSP = 7,
	REGISTER_R12 = 12,
	REGISTER_RETURN = 16,
	REGISTER_COUNT
};

struct stack_frame {
	uint64_t address; /* same as in symbols_unwind() */
	uint64_t registers[REGISTER_RETURN];
	uint32_t known; /* bit mask of the valid registers */
};

/* State of unwinding one stack of a process; unwind.c. */
struct unwind {
	pid_t pid;
	uint64_t stack_pointer, thread_base;
	uint64_t page_start; /* address of `page`; 1: none */
	unsigned char page[4096];
	uint64_t *addresses; /* results, if not NULL */
	struct stack_frame *frames;
	unsigned count, capacity;
	uint64_t last_frame; /* canonical frame address; must grow on an intact stack */
};

struct symbols {
	Dwfl *dwfl;
	/* displayed paths are relative to it; ends with a slash */
	char *working_folder;
	struct kept_text *texts;	   /* all strings returned to callers */
	struct lookup *lookups;		   /* uthash by address */
	struct unit_index *units;	   /* uthash by module */
	struct function_index *functions;  /* uthash by unit */
	struct variable_index *variables;  /* uthash by module */
	struct type_index *types;	   /* uthash by module */
	struct type_full_name *type_names; /* uthash by entry of the debug information */
	struct point_index *points;	   /* uthash by module */
	struct block_index *blocks;	   /* blocks.c: of the run queried last; NULL if none */
	struct source_text *source_texts;  /* uthash by file and line */
	struct numbered_modules *numbers;  /* thread_locals.c; NULL if not yet read */
	bool is_attached;		   /* dwfl uses the callbacks of unwind.c */
	struct unwind unwind;
};

/* Copies the text; the copy lives as long as `symbols`. The copy of NULL is NULL. */
const char *symbols_keep(struct symbols *symbols, const char *text);

const char *symbols_module_name(Dwfl_Module *module);
/* Returns the module to which the address belongs; NULL if there is none. (libdwfl counts the address behind a
 * module's end, where other memory may begin, as the module's.) */
Dwfl_Module *symbols_module_at(const struct symbols *symbols, uint64_t address);
/* Returns the module whose own data or code contains the address; NULL if there is none. */
Dwfl_Module *symbols_data_module(struct symbols *symbols, uint64_t address);
bool symbols_module_is_system(Dwfl_Module *module);
/* Returns whether the file is a header of the C++ library or of the compiler. */
bool symbols_is_system_file(const char *file);

/* Returns the mangled name, also through the origin; NULL if there is none, as for static functions
 * and data. */
const char *symbols_die_linkage_name(Dwarf_Die *die);
/* Returns the displayed path: absolute and normalised, or relative to the working folder if below
 * it. */
const char *symbols_shown_path(struct symbols *symbols, const char *folder, const char *path);
/* Returns the file of a DIE's DW_AT_decl_file or DW_AT_call_file as the line table has it, and the
 * unit; NULL if there is none. libdw's dwarf_decl_file() lacks file 0, which DWARF 5 permits. */
const char *symbols_die_path(Dwarf_Die *die, int attribute, Dwarf_Die *unit);
/* Returns the displayed file of a DIE's DW_AT_decl_file or DW_AT_call_file; NULL if there is
 * none. */
const char *symbols_die_file(struct symbols *symbols, Dwarf_Die *die, int attribute);
unsigned symbols_die_number(Dwarf_Die *die, int attribute);

/* Finds the unit of a code address. Returns false if there is none. The bias is that of
 * dwfl_module_getdwarf(). */
bool symbols_unit_at(
	struct symbols *symbols, Dwfl_Module *module, uint64_t address, Dwarf_Die *unit);

/* Finds the type of a variable or member without typedefs and qualifiers; false: none. */
bool types_of(Dwarf_Die *die, Dwarf_Die *type);
/* Returns the size in bytes; 0: unknown, for example a declared struct. */
uint64_t types_size(Dwarf_Die *type);
/* Adds "[1].lock" for an offset. `bytes` of the access (0: unknown) choose union members. */
void types_describe_inside(Dwarf_Die *type, uint64_t offset, uint64_t bytes, struct strbuf *out);
/*
 * Does what types_describe_inside() does, and also visits the enclosing structs, outermost first.
 * types_follow() returns true if the location is constant.
 */
struct types_path {
	Dwarf_Die *type;
	uint64_t offset, bytes;
	struct strbuf *out;
};
typedef void types_visit(Dwarf_Die *type, void *argument);
bool types_follow(struct types_path *path, types_visit *visit, void *argument);
bool types_member(Dwarf_Die *type, const char *name, Dwarf_Die *member_type, uint64_t *location);
bool types_argument(Dwarf_Die *type, Dwarf_Die *argument);
bool types_is_struct(Dwarf_Die *type);
bool types_is_reserved(const char *name);
/* Returns whether a variable or member is declared const, or is an array of constant elements. */
bool types_is_constant(Dwarf_Die *die);
/* Returns whether an access of this size can refer to an object at this offset in the type. */
bool types_fits(Dwarf_Die *type, uint64_t offset, uint64_t bytes);
/* Returns whether objects of the struct may be longer than the type because an array at its end is, as in
 * malloc(sizeof(struct message) + length). Sets *start to the offset of that array. */
bool types_extends_from(Dwarf_Die *type, uint64_t *start);
/* Returns whether the location is the field that the compiler named. NULL: any field that fits. */
bool types_is_field(Dwarf_Die *type, uint64_t offset, uint64_t bytes, const char *field);
/* Returns the name as in a declaration of its language: "struct account", "Account"; NULL if
 * unnamed. */
const char *types_name(struct symbols *symbols, Dwarf_Die *type);
/* Finds a complete struct, class or union of the module: "struct account", "bank::Account". */
bool types_named(struct symbols *symbols, Dwfl_Module *module, const char *name, Dwarf_Die *type);
/* Finds the only type of the module with this name in any namespace or class. */
bool types_named_in_any_scope(
	struct symbols *symbols, Dwfl_Module *module, const char *name, Dwarf_Die *type);

struct variable_location {
	uint64_t location; /* an address; with is_thread_local an offset in the module's block */
	uint64_t bytes;	   /* bytes of the access; 0: unknown */
	bool is_thread_local;
	bool is_brief; /* omit the location of declaration */
};

/* A variable at a fixed address with debug information. */
struct variable_found {
	Dwarf_Die die, unit;
	uint64_t start;
	const char *scope; /* "bank::teller::"; NULL where the mangled name contains it */
};
bool variables_find(struct symbols *symbols, uint64_t address, struct variable_found *out);
/* Adds a variable with debug information and the location of its declaration. */
bool variables_describe(struct symbols *symbols, Dwfl_Module *module,
	const struct variable_location *location, struct strbuf *out);
/* Adds static data, also by a symbol without debug information. */
bool static_data_describe(
	struct symbols *symbols, const struct variable_location *location, struct strbuf *out);

/* Returns the site that raddle-cc placed at this code address; NULL if none. Lives as long as
 * `symbols`. */
struct site;
const struct site *points_at(struct symbols *symbols, uint64_t address);

/* Returns whether raddle-cc has instrumented the module. */
bool points_has_sites(struct symbols *symbols, Dwfl_Module *module);

/* Does what symbols_unwind() does, with the registers of each frame. */
unsigned unwind_frames(struct symbols *symbols, pid_t pid, uint64_t stack_pointer,
	struct stack_frame *frames, unsigned capacity);
/* Read memory of a stopped process; false: not mapped. */
bool unwind_read_memory(pid_t pid, uint64_t address, void *to, size_t size);
bool unwind_read(struct symbols *symbols, pid_t pid, uint64_t address, uint64_t *value);

/* Maximum number of functions around an address, outermost first. All but the first are inlined. */
#define CHAIN_MAX 16
struct chain {
	Dwarf_Die functions[CHAIN_MAX];
	unsigned count;
};

/* Finds the functions that contain an address: the function itself, and those inlined into it there. The address is
 * relative to the module, as in the unit's debug information. */
void symbols_fill_chain(
	struct symbols *symbols, Dwarf_Die *unit, Dwarf_Addr address, struct chain *chain);
/* Empty if there is no debug information. The answer is cached by address. */
struct chain symbols_chain_at(struct symbols *symbols, uint64_t address);

/*
 * Visits the locals in scope at a code address, innermost function first, until `visit` returns
 * true. `function` declares the variable, `outermost` has the frame.
 */
struct local {
	Dwarf_Die variable, function, outermost;
	Dwarf_Addr address;
	/* The function is a library's, and code of the program is inlined into it at this address. */
	bool is_around_program;
};
typedef bool locals_visit(struct symbols *symbols, struct local *local, void *argument);
bool locals_each(struct symbols *symbols, uint64_t address, locals_visit *visit, void *argument);
struct local_location {
	pid_t pid;
	uint64_t stack_pointer; /* stack pointer of the stopped thread */
	uint64_t address, bytes;
	bool is_standing; /* the thread has not run since the access */
	bool is_brief;	  /* add the name only */
	/* If not 0, only a variable with a part of this size matches, in any frame. */
	uint64_t object_bytes;
};
/* Adds "local 'done' of main". If the thread has run since, only its first frame is certain. */
bool locals_describe(
	struct symbols *symbols, const struct local_location *location, struct strbuf *out);

/* Returns the last block allocated before that step around the address, even if freed; NULL if
 * there is none. */
const struct memory_block *blocks_at(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access);
/* Finds the type of the block as learnt from accesses; false: unknown. */
bool blocks_type(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, Dwarf_Die *type);
void blocks_describe(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, const struct symbols_access *access, struct strbuf *out);

/* Returns the statement at a line of the program's source; NULL if unreadable, or newer than the
 * program. */
const char *source_statement(
	struct symbols *symbols, Dwfl_Module *module, const char *file, unsigned line);
/* Does what source_statement() does, for a code address that is no return address. */
const char *source_statement_at(struct symbols *symbols, uint64_t code);
/* Returns the text after the next occurrence of a word; NULL if there is none. */
const char *source_find_word(const char *at, const char *word, const char *start);
bool source_is_word(char byte);

/* Returns the type that the code around the allocation gives, if it fits the block; NULL if there
 * is none. */
const char *allocation_type(struct symbols *symbols, const struct memory_block *block,
	bool (*fits)(const struct memory_block *block, Dwarf_Die *type), Dwarf_Die *type);

/* Adds a thread-local variable of the thread with this base. */
bool thread_locals_describe(struct symbols *symbols, pid_t pid, uint64_t thread_base,
	const struct variable_location *access, struct strbuf *out);

void symbols_forget_units(struct symbols *symbols);
void symbols_forget_functions(struct symbols *symbols);
void symbols_forget_lookups(struct symbols *symbols);
void symbols_forget_variables(struct symbols *symbols);
void symbols_forget_types(struct symbols *symbols);
void symbols_forget_points(struct symbols *symbols);
void symbols_forget_source_texts(struct symbols *symbols);
