/* What the files of this folder share: the open layout, kept strings, modules and DWARF odds. */
#ifndef RADDLE_SYMBOLS_INTERNAL_H
#define RADDLE_SYMBOLS_INTERNAL_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stddef.h>

#include "symbols/symbols.h"

struct lookup;	       /* lookup.c: what was found for an address */
struct unit_index;     /* units.c: the compilation units of a module */
struct variable_index; /* static_data.c: the variables of a module */

/* What is kept of a process while one of its stacks is walked; unwind.c. */
struct unwind {
	pid_t pid;
	uint64_t stack_pointer, thread_base;
	uint64_t page_start; /* of the page in `page`; 1: none */
	unsigned char page[4096];
	uint64_t *addresses; /* results */
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
	bool is_attached;		  /* dwfl has the callbacks of unwind.c */
	struct unwind unwind;
};

/* A copy that lives as long as `symbols`; NULL for NULL. */
const char *symbols_keep(struct symbols *symbols, const char *text);

/* Base name of the module's file. */
const char *symbols_module_name(Dwfl_Module *module);
uint64_t symbols_module_start(Dwfl_Module *module);
bool symbols_module_is_system(Dwfl_Module *module);

/*
 * A name as people write it: demangled, without the list of parameters and without the compiler's
 * suffixes (.part.0, .1234, @@VERSION). To be freed.
 */
char *symbols_readable_name(const char *raw);
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

void symbols_forget_units(struct symbols *symbols);
void symbols_forget_lookups(struct symbols *symbols);
void symbols_forget_variables(struct symbols *symbols);

#endif
