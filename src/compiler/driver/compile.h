/*
 * raddle-cc: the command line of a compiler, made into that of clang 19 with raddle's pass, or of any
 * compiler that makes ThreadSanitizer's calls. Everything that is not raddle's own option is passed
 * through unchanged and in its order.
 */
#ifndef RADDLE_COMPILER_DRIVER_COMPILE_H
#define RADDLE_COMPILER_DRIVER_COMPILE_H

#include <stdbool.h>

#include "base/error.h"

enum compile_abi {
	ABI_SITES, /* clang 19 and the pass */
	ABI_TSAN   /* -fsanitize=thread, linked with libraddle-tsan.so */
};

struct compile_options {
	bool is_cxx;
	enum compile_abi abi;
	const char *compiler; /* --cc=: for ABI_TSAN; NULL: gcc or g++ */
	bool warns_opaque;    /* --warn-opaque: name inline assembly that is not seen into */
};

/*
 * Takes raddle's own options out of argv (argv[0] is not looked at); *argv_left is a new array, NULL at
 * its end, whose strings are the caller's.
 */
int compile_take_options(
	char *const *argv, struct compile_options *options, char ***argv_left, struct error *err);

/* Becomes the compiler. Only returns when it cannot, with the error. Tells `note` before, in a line, what
 * will be missing. May take options out of argv. */
int compile_execute(const struct compile_options *options, char **argv,
	void (*note)(const char *text), struct error *err);

/* The compiler that will be used, to be freed: RADDLE_CLANG, else clang-19, else a clang of version
 * 19 in the path. */
int compile_find_clang(char **path, struct error *err);

/* The only one that can run the pass. */
#define COMPILE_CLANG_VERSION 19

/* The path of a program, looked for in PATH; NULL: it is not there. To be freed. */
char *compile_find_program(const char *name);
/* What `program --version` says in its first line behind `before`: 19 of "clang version 19.1.7"; 0: nothing. */
int compile_ask_version(const char *program, const char *before);

/* -fopenmp is asked for, and neither this clang nor a folder in argv has its header. */
bool compile_lacks_openmp(const char *clang, char *const *argv);

struct arguments;
struct arguments_kind;
/* For a command that links C++: behind all that argv names. */
void compile_add_stdcxx(
	struct arguments *command, const struct arguments_kind *kind, char *const *argv);

/*
 * The command with the words of each @FILE in its place that asks for link-time optimisation; the others stay, since they may be too
 * long for a command line. False: there is none, and *out is empty. To be released.
 */
bool compile_open_files(char *const *argv, struct arguments *out);

/* What becomes of a link with -flto, whose objects are clang 19's bitcode. */
enum compile_lto {
	LTO_FITS,	  /* or is not asked for */
	LTO_OLD_LLD,	  /* the lld that is named is older; the standard linker can do it */
	LTO_OLD_LLD_ONLY, /* likewise, and lacks the plugin, too */
	LTO_NO_PLUGIN	  /* the standard linker lacks clang's plugin */
};

/* *version: of that lld. */
enum compile_lto compile_judge_lto(const char *clang, char *const *argv, int *version);
/*
 * Takes the options of link-time optimisation out of a command that compiles; false: there are none, or others that do
 * not go without.
 */
bool compile_drop_lto(char **argv);
/* With which other linkers than lld read bitcode. To be freed; NULL: it is not there. */
char *compile_find_plugin(const char *clang);
/* Options that name lld. */
bool compile_is_lld(const char *option);

#endif
