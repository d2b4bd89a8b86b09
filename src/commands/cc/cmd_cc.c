/*
 * raddle cc and raddle c++ (raddle-cc, raddle-c++): handles raddle's options, passes on all others.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "bitcode/bitcode.h"
#include "cli/command.h"
#include "compiler/driver/compile.h"

/* The options are for help only: options_parse() would reject the compiler's options. */
static const struct command_option cc_options[] = {
	{"warn-opaque", 0, NULL,
		"Name the inline assembly, and the gathers and scatters of vectors, whose accesses raddle cannot see",
		{0}},
	{"native", 0, NULL,
		"Compile each function twice, with and without scheduling points: without raddle the program is as fast as clang's, but larger",
		{0}},
	{"points-to", 0, "PROGRAM [LIBRARY...]",
		"Compile nothing; print the accesses that may touch each variable of a program that raddle-cc built",
		{0}},
	{0},
};

static const char cc_doc[] =
	"Compiles and links as clang 19 does, so that raddle sees memory accesses. "
	"CC=raddle-cc CXX=raddle-c++ builds projects unchanged. The program also runs "
	"without raddle.\vRADDLE_CLANG names another clang of version 19. The exit status is the compiler's.";

static void cmd_cc_print_note(const char *text)
{
	(void)fprintf(stderr, "raddle-cc: note: %s\n", text);
}

static int cmd_cc_compile(char **argv, bool is_cxx)
{
	struct compile_options options = {.is_cxx = is_cxx};
	struct error err;
	FREE_SCOPED char **left = NULL;
	int result;

	compile_take_options(argv + 1, &options, &left);
	result = compile_execute(&options, left, cmd_cc_print_note, &err);
	return result < 0 ? command_fail("%s", err.text) : EXIT_NOTHING_FOUND;
}

static int cmd_cc_print_points_to(char **paths)
{
	struct points_to_files files = {.paths = (const char *const *)paths};
	struct points_to *result;
	struct error err;

	while (paths[files.count])
		files.count++;
	if (!files.count)
		return command_fail("--points-to needs a program; raddle cc --points-to PROGRAM");
	if (points_to_compute(&result, &files, &err))
		return command_fail("%s", err.text);
	points_to_print(result, stdout);
	points_to_free(result);
	return EXIT_NOTHING_FOUND;
}

static int cmd_cc_run(int argc, char **argv, bool is_cxx)
{
	/* "raddle cc --help" is raddle's help, "raddle-cc --help" the compiler's. */
	if (argc == 2 && strcmp(argv[1], "--help") == 0 && strncmp(argv[0], "raddle ", 7) == 0) {
		options_print_help(is_cxx ? &command_cxx : &command_cc, stdout);
		return EXIT_NOTHING_FOUND;
	}
	if (argc > 1 && strcmp(argv[1], "--points-to") == 0)
		return cmd_cc_print_points_to(argv + 2);
	return cmd_cc_compile(argv, is_cxx);
}

static int cc_run(int argc, char **argv)
{
	return cmd_cc_run(argc, argv, false);
}

static int cmd_cc_cxx_run(int argc, char **argv)
{
	return cmd_cc_run(argc, argv, true);
}

const struct command command_cc = {
	.name = "cc",
	.summary = "compile C so that raddle sees memory accesses (raddle-cc)",
	.doc = cc_doc,
	.usage = "[COMPILER-OPTION...] FILE...",
	.options = cc_options,
	.run = cc_run,
};

const struct command command_cxx = {
	.name = "c++",
	.summary = "compile C++ so that raddle sees memory accesses (raddle-c++)",
	.doc = cc_doc,
	.usage = "[COMPILER-OPTION...] FILE...",
	.options = cc_options,
	.run = cmd_cc_cxx_run,
};
