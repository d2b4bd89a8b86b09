/*
 * raddle-cc and raddle-c++ translate the command line of a compiler for clang 19 with raddle's pass.
 * Every option that is not raddle's own is passed on unchanged and in order, except -flto (lto.c).
 * compile_execute() finally replaces the process by the compiler.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct compile_options {
	bool is_cxx;
	/* --warn-opaque: warn about inline assembly that the pass cannot analyse */
	bool warns_opaque;
	/* --native: compile each function a second time, without sites, for runs without raddle */
	bool has_native;
};

/* Removes raddle's own options. *argv_left: argv without them, NULL-terminated; the caller frees
 * the array only. */
void compile_take_options(char *const *argv, struct compile_options *options, char ***argv_left);

/*
 * Replaces the process by the compiler. Calls `note` for missing parts. May remove options from
 * argv.
 */
int compile_execute(const struct compile_options *options, char **argv,
	void (*note)(const char *text), struct error *err);

/* Finds the compiler: RADDLE_CLANG, else clang-19, else a clang 19 in PATH. The caller frees
 * *path. */
int compile_find_clang(char **path, struct error *err);

/* The pass is built against this version of LLVM and runs in no other. */
#define COMPILE_CLANG_VERSION 19

/* Returns the path of a program in PATH, which the caller frees; returns NULL if not found. */
char *compile_find_program(const char *name);
/* Returns the number after `before` in the first line of `program --version`; 0: no such text. */
int compile_ask_version(const char *program, const char *before);

/* Returns true if -fopenmp is given, and neither this clang nor an include folder in argv has
 * omp.h. */
bool compile_lacks_openmp(const char *clang, char *const *argv);

struct arguments;
struct arguments_kind;
/* Adds raddle's parts of libstdc++ to a command that links C++, after all arguments of the user. */
void compile_add_stdcxx(
	struct arguments *command, const struct arguments_kind *kind, char *const *argv);

/* Expands each @FILE that contains -flto. Other files stay, because a command line may be too short
 * for them. Returns false if there is none; *out is then empty. The caller releases *out. */
bool compile_open_files(char *const *argv, struct arguments *out);

/* Whether the linker can do a link with -flto, whose objects are bitcode of clang 19. */
enum compile_lto {
	LTO_FITS,    /* the linker can do the link, or -flto is not given */
	LTO_OLD_LLD, /* the chosen lld is too old; the default linker can do it */
	/* The chosen lld is too old, and the default linker lacks clang's plugin */
	LTO_OLD_LLD_ONLY,
	LTO_NO_PLUGIN /* the default linker lacks clang's plugin */
};

/* Returns whether the linker that argv chooses can do this link. *version: lld's version, if argv
 * chooses lld. */
enum compile_lto compile_judge_lto(const char *clang, char *const *argv, int *version);
/* Removes the options of link-time optimisation. Returns false if there is none, or other options
 * require them. */
bool compile_drop_lto(char **argv);
/* Returns the path of the plugin for linkers other than lld, which the caller frees; NULL if not
 * installed. */
char *compile_find_plugin(const char *clang);
bool compile_is_lld(const char *option);
